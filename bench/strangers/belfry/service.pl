#!/usr/bin/env perl
# Belfry: bells, attempts, footnotes and heralds, kept in memory by one process.
use v5.36;
no warnings qw(experimental::builtin recursion);
use builtin qw(true false is_bool created_as_number);
use Digest::SHA qw(hmac_sha256 hmac_sha256_base64 hmac_sha256_hex sha1_hex);
use Errno qw(EAGAIN EWOULDBLOCK EINPROGRESS EINTR);
use IO::Select;
use IO::Socket::INET;
use MIME::Base64 qw(decode_base64 encode_base64);
use Socket qw(IPPROTO_TCP TCP_NODELAY SOL_SOCKET SO_ERROR);
use Time::HiRes ();

my (%ARG, $BUG);
while (@ARGV) {
  my $word = shift @ARGV;
  die "usage: service.pl --port N --clock-port N [--fault ID]\n" unless $word =~ /^--(port|clock-port|fault)$/ && @ARGV;
  $ARG{$1} = shift @ARGV;
}
$BUG = $ARG{fault} // '';
my $SECRET = $ENV{BELFRY_SECRET} // 'the-great-bell-weighs-thirteen-tons';
my $BASE = $BUG eq 'pu-base' ? '' : '/tower';
use constant { MINUTE => 60_000, HOUR => 3_600_000, DAY => 86_400_000 };

# ---------------------------------------------------------------- callers

my %ROPE = (
  rope_aaaaaaaaaaaaaaaaaaaaanna => { user => 'captain', id => 'anna',  scopes => [] },
  rope_bbbbbbbbbbbbbbbbbbbbbert => { user => 'captain', id => 'bert',  scopes => [] },
  rope_cccccccccccccccccccclara => { user => 'captain', id => 'clara', scopes => [] },
  rope_ddddddddddddddddddddorit => { user => 'steward', id => 'dorit', scopes => ['verdicts'] },
  rope_eeeeeeeeeeeeeeeeeeeemile => { user => 'steward', id => 'emile', scopes => [] },
);

# ---------------------------------------------------------------- the clock

my $ahead = 0;
sub now { int(Time::HiRes::time() * 1000) + $ahead }

sub days_of ($y, $m, $d) {
  $y-- if $m <= 2;
  my $era = int($y / 400);
  my $yoe = $y - $era * 400;
  my $doy = int((153 * ($m + ($m > 2 ? -3 : 9)) + 2) / 5) + $d - 1;
  return $era * 146097 + $yoe * 365 + int($yoe / 4) - int($yoe / 100) + $doy - 719468;
}

sub stamp ($ms) {
  my @t = gmtime(int($ms / 1000));
  return sprintf '%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', $t[5] + 1900, $t[4] + 1, @t[3, 2, 1, 0], $ms % 1000;
}

sub http_date ($s) {
  my @t = gmtime $s;
  return sprintf '%s, %02d %s %04d %02d:%02d:%02d GMT', (qw(Sun Mon Tue Wed Thu Fri Sat))[$t[6]], $t[3],
    (qw(Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec))[$t[4]], $t[5] + 1900, @t[2, 1, 0];
}

# RFC 3339 to milliseconds, or nothing
sub instant ($text) {
  $text =~ /\A(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))\z/a or return;
  my ($y, $mo, $d, $h, $mi, $s, $f, $sign, $oh, $om) = ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);
  return if $mo < 1 || $mo > 12 || $d < 1 || $h > 23 || $mi > 59 || $s > 60;
  my @len = (31, ($y % 4 == 0 && ($y % 100 || $y % 400 == 0)) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31);
  return if $d > $len[$mo - 1];
  my $off = 0;
  if (defined $sign) {
    return if $oh > 23 || $om > 59;
    $off = ($oh * 60 + $om) * ($sign eq '-' ? -1 : 1);
  }
  my $min = days_of($y, $mo, $d) * 1440 + $h * 60 + $mi - $off;
  return if $s == 60 && $min % 1440 != 1439;
  return $min * 60_000 + $s * 1000 + (defined $f ? "0$f" * 1000 : 0);
}

# ---------------------------------------------------------------- JSON

my %ESC = ('"' => '\\"', '\\' => '\\\\', "\n" => '\\n', "\r" => '\\r', "\t" => '\\t', "\b" => '\\b', "\f" => '\\f');
my %UNESC = (n => "\n", r => "\r", t => "\t", b => "\b", f => "\f", '"' => '"', '\\' => '\\', '/' => '/');

sub quoted ($s) {
  $s =~ s/(["\\\x00-\x1f])/$ESC{$1} \/\/ sprintf('\\u%04x', ord $1)/ge;
  return qq("$s");
}

# text of characters, map keys sorted
sub json ($v) {
  return 'null' unless defined $v;
  if (my $r = ref $v) {
    return '[' . join(',', map { json($_) } @$v) . ']' if $r eq 'ARRAY';
    return '{' . join(',', map { quoted($_) . ':' . json($v->{$_}) } sort keys %$v) . '}';
  }
  return $v ? 'true' : 'false' if is_bool($v);
  return created_as_number($v) ? "$v" : quoted($v);
}

sub parse_json ($bytes) {
  my $text = $bytes;
  if ($text =~ /[^\x00-\x7f]/) {
    return unless utf8::decode($text);
    return if $text =~ /[\x{d800}-\x{dfff}]/ || $text =~ /[^\x{0}-\x{10ffff}]/;
  }
  my $value = eval {
    pos($text) = 0;
    my $v = json_value(\$text, 0);
    $$_ =~ /\G[ \t\r\n]*/gc for \$text;
    die "tail\n" if pos($text) != length $text;
    [$v];
  };
  return $value;
}

sub json_value ($t, $depth) {
  die "deep\n" if $depth > 200;
  $$t =~ /\G[ \t\r\n]*/gc;
  return json_string($t) if $$t =~ /\G"/gc;
  if ($$t =~ /\G\{/gc) {
    my %map;
    return \%map if $$t =~ /\G[ \t\r\n]*\}/gc;
    while (1) {
      $$t =~ /\G[ \t\r\n]*"/gc or die "key\n";
      my $key = json_string($t);
      $$t =~ /\G[ \t\r\n]*:/gc or die "colon\n";
      $map{$key} = json_value($t, $depth + 1);
      next if $$t =~ /\G[ \t\r\n]*,/gc;
      return \%map if $$t =~ /\G[ \t\r\n]*\}/gc;
      die "map\n";
    }
  }
  if ($$t =~ /\G\[/gc) {
    my @list;
    return \@list if $$t =~ /\G[ \t\r\n]*\]/gc;
    while (1) {
      push @list, json_value($t, $depth + 1);
      next if $$t =~ /\G[ \t\r\n]*,/gc;
      return \@list if $$t =~ /\G[ \t\r\n]*\]/gc;
      die "list\n";
    }
  }
  return true if $$t =~ /\Gtrue/gc;
  return false if $$t =~ /\Gfalse/gc;
  return undef if $$t =~ /\Gnull/gc;
  if ($$t =~ /\G(-?(?:0|[1-9][0-9]*))((?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)/gc) {
    my $n = 0 + "$1$2";
    return length $2 && abs($n) < 9e15 && $n == int $n ? int $n : $n;
  }
  die "value\n";
}

sub json_string ($t) {
  $$t =~ /\G([^"\\\x00-\x1f]*)/gc;
  my $s = $1;
  while (1) {
    return $s if $$t =~ /\G"/gc;
    if ($$t =~ /\G\\(["\\\/bfnrt])/gc) { $s .= $UNESC{$1} }
    elsif ($$t =~ /\G\\u([0-9a-fA-F]{4})/gc) {
      my $n = hex $1;
      if ($n >= 0xd800 && $n < 0xdc00 && $$t =~ /\G\\u([dD][c-fC-F][0-9a-fA-F]{2})/gc) {
        $n = 0x10000 + (($n - 0xd800) << 10) + (hex($1) - 0xdc00);
      }
      $s .= chr($n >= 0xd800 && $n < 0xe000 ? 0xfffd : $n);
    }
    else { die "string\n" }
    $$t =~ /\G([^"\\\x00-\x1f]*)/gc;
    $s .= $1;
  }
}

# ---------------------------------------------------------------- fields

my $URI = qr{\A[A-Za-z][A-Za-z0-9+.\-]*:(?:[A-Za-z0-9\-._~:/?\#\[\]@!\$&'()*+,;=]|%[0-9A-Fa-f]{2})+\z};
my %ALL_KINDS = map { $_ => 1 } qw(bell.added bell.recast bell.melted attempt.planned attempt.begun attempt.long
  attempt.ended attempt.lapsed attempt.ratified attempt.struck footnote.added);

sub str ($min, $max, %more) { { t => 's', min => $min, max => $max, %more } }
sub int_of ($min, $max, %more) { { t => 'i', min => $min, max => $max, %more } }
my $DATE = { t => 's', date => 1 };

# name, shape, words: ro (read-only), req, def, imm, wo (write-only), path (bound by the path), fix (set by the client once)
my %FIELD = (
  bell => [
    [slug => str(undef, undef, re => qr/\A[a-z][a-z0-9-]{2,39}\z/a), req => 1, imm => 1, path => 'slug'],
    [captain => { t => 's' }, ro => 1],
    [name => str(1, 60), req => 1],
    [weight => int_of(5, 20000), req => 1],
    [material => { enum => [qw(bronze iron steel)] }, req => 1, def => 'bronze', only => 'e2'],
    [note => str(undef, undef, re => qr/\A[A-G][b#]?\z/)],
    [position => int_of(1, 999)],
    [open => { t => 'b' }, req => 1, def => false],
    [hung => { t => 'b' }, req => 1, def => true],
    [maker => { t => 'm', of => { name => [str(1, 80), 1], year => [int_of(900, 2100), 0] } }],
    [tags => { t => 'a', of => str(1, 20), max => 5 }],
    [made_at => $DATE, ro => 1],
    [changed_at => $DATE, ro => 1],
  ],
  attempt => [
    [nr => { t => 'i' }, ro => 1],
    [captain => { t => 's' }, ro => 1],
    [bell => { t => 's' }, req => 1, imm => 1],
    [label => str(1, 60), req => 1],
    [style => { enum => [qw(tower hand)] }, req => 1, def => 'tower'],
    [changes => int_of(1, 40320), req => 1],
    [duration => int_of(1, 1440), req => 1],
    [starts_at => $DATE, req => 1],
    [conductor => str(1, 80)],
    [held => { t => 'b' }, req => 1, def => false],
    [door_code => str(undef, undef, re => qr/\A[0-9]{4}\z/), wo => 1],
    [status => { t => 's' }, ro => 1],
    [fee => { t => 'i' }, ro => 1],
    [rung_changes => { t => 'i' }, ro => 1],
    [finished_at => $DATE, ro => 1],
    [verdict => { t => 's' }, ro => 1, seen => 'steward'],
    [planned_at => $DATE, ro => 1],
    [changed_at => $DATE, ro => 1],
  ],
  footnote => [
    [id => { t => 's' }, ro => 1],
    [attempt => { t => 'i' }, req => 1, path => 'attempt'],
    [author => { t => 's' }, ro => 1],
    [text => str(1, 500), req => 1],
    [bell => { t => 's' }],
    [made_at => $DATE, ro => 1],
  ],
  herald => [
    [id => { t => 's' }, ro => 1],
    [owner => { t => 's' }, ro => 1],
    [url => str(undef, 300, re => $URI), req => 1],
    [kinds => { t => 'a', of => { t => 's', kind => 1 }, max => 20 }],
    [active => { t => 'b' }, req => 1, def => true],
    [seal => { t => 's' }, ro => 1, seen => 'nobody'],
    [made_at => $DATE, ro => 1],
  ],
);

my %OLD_NAME = (changes => 'length');
my %OLD_SHAPE = (
  duration => { t => 'i', min => 60, max => 86400, mult => 60 },
  style => { enum => [qw(tower handbell)] },
);
my %UP = (duration => sub ($v) { int($v / 60) }, style => sub ($v) { $v eq 'handbell' ? 'hand' : $v });
my %DOWN = (duration => sub ($v) { $v * 60 }, style => sub ($v) { $v eq 'hand' ? 'handbell' : $v });

# per resource and version: name there => what it is
my (%SHAPE, %VIEW);
for my $type (keys %FIELD) {
  for my $ver (qw(e1 e2)) {
    for my $f ($FIELD{$type}->@*) {
      my ($name, $shape, %w) = @$f;
      next if ($w{only} // $ver) ne $ver && !($BUG eq 've-material-shown');
      my $old = $ver eq 'e1' && $type eq 'attempt';
      my $as = $old ? $OLD_NAME{$name} // $name : $name;
      my $x = {
        %w, as => $as, key => $name,
        shape => $old ? $OLD_SHAPE{$name} // $shape : $shape,
        up => $old ? $UP{$name} : undef, down => $old ? $DOWN{$name} : undef,
      };
      $x->{up} = undef if $BUG eq 've-duration-up' && $name eq 'duration';
      if ($BUG eq 've-handbell-in' && $name eq 'style') { $x->{up} = undef; $x->{shape} = $shape }
      $x->{shape} = { %$shape, max => 10 ** 9 } if $BUG eq 're-weight-range' && $name eq 'weight';
      $x->{shape} = { %$shape, max => undef } if $BUG eq 're-label-long' && $name eq 'label';
      $x->{shape} = { t => 's' } if $BUG eq 're-starts-at' && $name eq 'starts_at';
      $x->{def} = false if $BUG eq 're-hung-default' && $name eq 'hung';
      delete $x->{req} if $BUG eq 're-missing-name' && $type eq 'bell' && $name eq 'name';
      delete $x->{imm} if $BUG eq 're-bell-moved' && $name eq 'bell';
      delete $x->{wo} if $BUG eq 're-door-code' && $name eq 'door_code';
      delete $x->{seen} if $BUG eq 're-seal-again' && $name eq 'seal';
      delete $x->{seen} if $BUG eq 're-verdict-seen' && $name eq 'verdict';
      $SHAPE{$type}{$ver}{$as} = $x;
      push $VIEW{$type}{$ver}->@*, $x unless $x->{wo};
    }
  }
}

# what is wrong with a value: places are pushed
sub wrong ($s, $v, $at, $bad) {
  if ($s->{enum}) {
    push @$bad, $at unless defined $v && !ref $v && !is_bool($v) && !created_as_number($v) && grep { $_ eq $v } $s->{enum}->@*;
    return;
  }
  my $t = $s->{t};
  if ($t eq 's') {
    return push @$bad, $at if !defined $v || ref $v || is_bool($v) || created_as_number($v);
    return push @$bad, $at if defined $s->{min} && length $v < $s->{min};
    return push @$bad, $at if defined $s->{max} && length $v > $s->{max};
    return push @$bad, $at if $s->{re} && $v !~ $s->{re};
    return push @$bad, $at if $s->{date} && !defined instant($v);
    return push @$bad, $at if $s->{kind} && !known_kind($v);
  }
  elsif ($t eq 'i') {
    return push @$bad, $at if !defined $v || ref $v || is_bool($v) || !created_as_number($v) || $v != int $v;
    return push @$bad, $at if defined $s->{min} && $v < $s->{min};
    return push @$bad, $at if defined $s->{max} && $v > $s->{max};
    return push @$bad, $at if $s->{mult} && $v % $s->{mult};
  }
  elsif ($t eq 'b') { return push @$bad, $at unless defined $v && is_bool($v) }
  elsif ($t eq 'a') {
    return push @$bad, $at unless ref $v eq 'ARRAY';
    push @$bad, $at if @$v > $s->{max};
    wrong($s->{of}, $v->[$_], "$at/$_", $bad) for 0 .. $#$v;
  }
  elsif ($t eq 'm') {
    return push @$bad, $at unless ref $v eq 'HASH';
    for my $k (sort keys %$v) {
      if (my $p = $s->{of}{$k}) { wrong($p->[0], $v->{$k}, "$at/$k", $bad) }
      else { push @$bad, "$at/" . pointer($k) }
    }
    for my $k (sort keys $s->{of}->%*) { push @$bad, "$at/$k" if $s->{of}{$k}[1] && !exists $v->{$k} }
  }
  return;
}

sub pointer ($k) { $k =~ s/~/~0/gr =~ s/\//~1/gr }

sub known_kind ($k) {
  return 1 if $k eq '*' || $ALL_KINDS{$k};
  return $k =~ /\A(bell|attempt|footnote)\.\*\z/;
}

sub merged ($old, $patch) {
  return $patch unless ref $patch eq 'HASH';
  my %m = ref $old eq 'HASH' ? %$old : ();
  for my $k (keys %$patch) {
    if (defined $patch->{$k}) { $m{$k} = merged($m{$k}, $patch->{$k}) }
    else { delete $m{$k} }
  }
  return \%m;
}

# the fields a caller writes, as they would be stored, and the places that are wrong
sub taken_in ($type, $ver, $body, $mode, $old, $path) {
  my $shape = $SHAPE{$type}{$ver};
  my (@bad, %next);
  return ({}, ['']) unless ref $body eq 'HASH';
  if ($old) {
    # an update starts from what is there; a replace keeps what its version cannot see
    for my $f ($FIELD{$type}->@*) {
      my ($key, undef, %w) = @$f;
      next if $w{ro} || !exists $old->{$key};
      $next{$key} = $old->{$key} if $mode eq 'update' || $w{only} && $w{only} ne $ver;
    }
  }
  for my $k (sort keys %$body) { push @bad, '/' . pointer($k) if !$shape->{$k} && $BUG ne 're-extra' }
  for my $as (sort keys %$shape) {
    my $x = $shape->{$as};
    next if $x->{ro};
    my $key = $x->{key};
    if (exists $body->{$as}) {
      my $v = $body->{$as};
      if (!defined $v && $mode eq 'update') {
        if ($x->{req}) { push @bad, "/$as" }
        elsif ($BUG ne 're-null-kept') { delete $next{$key} }
        next;
      }
      $v = merged($next{$key}, $v) if $mode eq 'update' && $x->{shape}{t} && $x->{shape}{t} eq 'm';
      my $before = @bad;
      wrong($x->{shape}, $v, "/$as", \@bad);
      next if @bad > $before;
      $v = $x->{up}->($v) if $x->{up};
      if ($x->{imm} && $old && $v ne $old->{$key} || $x->{path} && exists $path->{$x->{path}} && $v ne $path->{$x->{path}}) {
        push @bad, "/$as";
        next;
      }
      $next{$key} = $v;
    }
    elsif ($mode ne 'update') {
      if (exists $x->{def}) { $next{$key} = $x->{def} }
      elsif ($x->{path} && exists $path->{$x->{path}}) { $next{$key} = $path->{$x->{path}} }
      elsif ($x->{req}) { push @bad, "/$as" }
      elsif ($old && $BUG eq 're-replace-merge' && exists $old->{$key}) { $next{$key} = $old->{$key} }
    }
  }
  $next{material} //= 'bronze' if $type eq 'bell';    # what an older version never says
  return (\%next, \@bad);
}

# ---------------------------------------------------------------- what is kept

my %ROW = (bell => {}, attempt => {}, footnote => {}, herald => {});
my %LINE = (bell => [], attempt => [], herald => []);    # in the order they were made
my (%NAME, %PLACE, %RINGING, $count_nr, $count_seq, %ONCE, @once_line, %RATE, %QUOTA);
my %ID = (bell => 'slug', attempt => 'nr', footnote => 'id', herald => 'id');

sub shown ($type, $row, $ver, $user) {
  return $row->{_v}{"$ver$user"} //= do {
    my @out;
    for my $x ($VIEW{$type}{$ver}->@*) {
      next unless exists $row->{$x->{key}};
      next if $x->{seen} && $x->{seen} ne $user;
      my $v = $row->{$x->{key}};
      $v = $x->{down}->($v) if $x->{down};
      $v = "$v" if $BUG eq 're-weight-text' && $x->{key} eq 'weight';
      push @out, quoted($x->{as}) . ':' . json($v);
    }
    '{' . join(',', @out) . '}';
  };
}

sub etag ($type, $row, $ver, $user) {
  return '"' . substr(sha1_hex("$type|$row->{$ID{$type}}"), 0, 20) . '"' if $BUG eq 'ep-etag-constant';
  my $text = shown($type, $row, $ver, $user);
  utf8::encode($text);
  return '"' . substr(sha1_hex("$ver|$user|$text"), 0, 20) . '"';
}

sub changed ($row) { delete $row->{_v}; return }

my @LETTER = ('A' .. 'Z', 'a' .. 'z', '0' .. '9');
open my $RANDOM, '<:raw', '/dev/urandom' or die "no randomness: $!";
sub random_bytes ($n) {
  my $bytes;
  read $RANDOM, $bytes, $n;
  return $bytes;
}
sub random_text ($n) { join '', map { $LETTER[$_ % 62] } unpack 'C*', random_bytes($n) }
sub uuid { my @b = unpack 'n8', random_bytes(16); $b[3] = $b[3] & 0x0fff | 0x4000; $b[4] = $b[4] & 0x3fff | 0x8000; sprintf '%04x%04x-%04x-%04x-%04x-%04x%04x%04x', @b }

sub put_in ($type, $row) {
  $row->{_seq} = ++$count_seq;
  $ROW{$type}{$row->{$ID{$type}}} = $row;
  push $LINE{$type}->@*, $row if $LINE{$type};
  return;
}

sub take_out ($type, $row) {
  delete $ROW{$type}{$row->{$ID{$type}}};
  if (my $line = $LINE{$type}) { @$line = grep { $_ != $row } @$line }
  return;
}

# ---------------------------------------------------------------- who may

sub may_read ($who, $type, $row) {
  my $me = $who->{id};
  return $row->{owner} eq $me if $type eq 'herald';
  return 1 if $who->{user} eq 'steward';
  return $row->{captain} eq $me || $row->{open} if $type eq 'bell';
  return $row->{captain} eq $me if $type eq 'attempt';
  my $up = $ROW{attempt}{$row->{attempt}};
  return $up && $up->{captain} eq $me;
}

my %RULE;
$RULE{$_}{captain} = '' for map { my $r = $_; map { "$_ $r" } qw(create list read update replace delete) } 'bell';
$RULE{"$_ bell"}{steward} = '' for qw(list read);
$RULE{"$_ attempt"}{captain} = '' for qw(create list read update delete begin finish scratch reopen);
$RULE{"$_ attempt"}{steward} = '' for qw(list read);
$RULE{"$_ attempt"}{steward} = 'verdicts' for qw(ratify strike);
for my $u (qw(captain steward)) {
  $RULE{"$_ footnote"}{$u} = '' for qw(create list read);
  $RULE{"$_ herald"}{$u} = '' for qw(create list read update delete);
}
$RULE{"create attempt"}{steward} = '' if $BUG eq 'au-steward-plans';
$RULE{"$_ attempt"}{steward} = '' for $BUG eq 'au-scope' ? qw(ratify strike) : ();

sub unbase64url ($s) { $s =~ tr{-_}{+/}; return decode_base64($s . '=' x (-length($s) % 4)) }

sub caller_of_token ($token) {
  $token =~ /\A([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\z/ or return;
  my ($head, $claims, $mac) = ($1, $2, $3);
  my $h = parse_json(unbase64url($head)) or return;
  return unless ref $h->[0] eq 'HASH' && ($h->[0]{alg} // '') eq 'HS256';
  if ($BUG ne 'au-forged') { return unless hmac_sha256("$head.$claims", $SECRET) eq unbase64url($mac) }
  my $c = parse_json(unbase64url($claims)) or return;
  $c = $c->[0];
  return unless ref $c eq 'HASH';
  my $now = now() / 1000;
  for my $k (qw(exp nbf)) { return if exists $c->{$k} && !(defined $c->{$k} && created_as_number($c->{$k})) }
  return if exists $c->{exp} && $c->{exp} <= $now && $BUG ne 'au-expired';
  return if exists $c->{nbf} && $c->{nbf} > $now;
  return unless ($c->{iss} // '') eq 'https://guild.example';
  my @aud = ref $c->{aud} eq 'ARRAY' ? $c->{aud}->@* : $c->{aud} // '';
  return unless $BUG eq 'au-audience' || grep { defined && !ref && $_ eq 'belfry' } @aud;
  my ($id, $user, $scope) = @$c{qw(sub role scope)};
  return if grep { !defined || ref || created_as_number($_) || is_bool($_) } $id, $user;
  return unless $user eq 'captain' || $user eq 'steward';
  return if exists $c->{scope} && (!defined $scope || ref $scope);
  return { user => $user, id => $id, scopes => [split / /, $scope // ''] };
}

sub caller_of ($h) {
  my @found;
  if (defined(my $rope = $h->{'belfry-rope'})) { push @found, $ROPE{$rope} // return }
  if (defined(my $auth = $h->{authorization})) {
    return $found[0] if @found && $BUG eq 'au-two';
    $auth =~ /\ABearer +(\S+)\z/i or return;
    push @found, caller_of_token($1) // return;
  }
  return unless @found;
  if (@found > 1) {
    return if $found[0]{user} ne $found[1]{user} || $found[0]{id} ne $found[1]{id};
    return { $found[0]->%*, scopes => [map { $_->{scopes}->@* } @found] };
  }
  return if $BUG eq 'pu-steward' && $found[0]{user} eq 'steward';
  return $found[0];
}

# ---------------------------------------------------------------- refusals

my %CODE = (
  garbled => [400, 'The body cannot be read.'], wrong_media => [415, 'Only JSON is taken.'],
  wrong_accept => [406, 'Only JSON is given.'], wrong_query => [400, 'A parameter of the query is wrong.'],
  unfit => [422, 'The body does not fit.'], no_path => [404, 'There is no such path.'],
  no_act => [405, 'That cannot be done here.'], who_rings => [401, 'Say who you are.'],
  hands_off => [403, 'That is not for you.'], not_here => [404, 'There is no such thing.'],
  taken => [409, 'There is one already.'], dangling => [422, 'What is referred to is not there.'],
  in_use => [409, 'Something refers to it.'], wrong_moment => [409, 'Not in this state.'],
  stale => [412, 'It has changed since.'], tag_needed => [428, 'Send If-Match.'],
  once_reused => [422, 'That key was used for something else.'], too_fast => [429, 'Slower, please.'],
  day_spent => [403, 'Enough for today.'], too_big => [413, 'That is too big.'], too_slow => [408, 'That took too long.'],
  edition_unknown => [400, 'There is no such edition.'], edition_gone => [410, 'That edition is gone.'],
  cracked => [500, 'The bell has cracked.'],
  not_planned => [409, 'Only a planned attempt can begin.'], not_ringing => [409, 'Nobody is ringing this attempt.'],
  still_held => [409, 'A held attempt gets no verdict.'], too_long => [422, 'By hand at most 20000 changes.'],
  unhung => [409, 'The bell does not hang.'],
);
$CODE{unfit}[0] = 400 if $BUG eq 'er-unfit-400';
$CODE{dangling}[0] = 404 if $BUG eq 'er-dangling-404';
$CODE{unhung}[1] = 'Bell not ready' if $BUG eq 'er-message';

sub refuse ($code, $places = [], %headers) {
  my ($status, $said) = $CODE{$code}->@*;
  my %trouble = (word => $code, status => $status, said => $said, places => $places);
  delete $trouble{places} if $BUG eq 'er-places' && !@$places;
  if ($BUG eq 'er-html' && $code eq 'no_path') { return [404, { 'Content-Type' => 'text/html' }, '<h1>Not Found</h1>'] }
  return [$status, \%headers, json({ trouble => \%trouble }), $code];
}

# ---------------------------------------------------------------- heralds are told

my (@going, %WAIT, @ready);    # waits: seconds => line of [due, herald, key]
my @RETRY = (20_000, 3 * MINUTE, HOUR);

sub announce ($kind, $type, $row, $payload, $to = undef) {
  my $now = now();
  my $event;
  for my $h ($LINE{herald}->@*) {
    next unless $h->{active} || $BUG eq 'ev-inactive';
    if ($h->{kinds} && $BUG ne 'ev-kinds') {
      my ($head) = $kind =~ /^(\w+)\./;
      next unless grep { $_ eq $kind || $_ eq '*' || $_ eq "$head.*" } $h->{kinds}->@*;
    }
    my $maker = $h->{_maker};
    if ($to && $BUG ne 'ev-to') { next unless $to->($h) }
    else { next unless may_read($maker, $type, $row) || $BUG eq 'ev-leak' && $maker->{user} eq 'captain' }
    $event //= { id => 'ring_' . random_text(20), at => stamp($now) };
    my $body = '{"number":' . quoted($event->{id}) . ',"what":' . quoted($kind) . ',"told":"' . $event->{at} . '","about":'
      . $payload->($BUG eq 've-event-current' ? 'e2' : $h->{_ver}, $BUG eq 'ev-verdict' ? 'steward' : $maker->{user}) . '}';
    utf8::encode($body);
    my $key = "$type/$row->{$ID{$type}}";
    my $line = $h->{_line}{$key} //= [];
    push @$line, { id => $event->{id}, kind => $kind, body => $body, tries => 0 };
    push @ready, [$h, $key] if @$line == 1;
  }
  return;
}

sub tell_row ($kind, $type, $row, $to = undef) {
  announce($kind, $type, $row, sub ($ver, $user) { shown($type, $row, $ver, $user) }, $to);
}

sub send_ready {
  while (@ready && @going < 48) {
    my ($h, $key) = (shift @ready)->@*;
    my $line = $h->{_line}{$key} or next;
    if (!$ROW{herald}{$h->{id}} || !$h->{active} && $BUG ne 'ev-inactive') { delete $h->{_line}{$key}; next }
    my $e = $line->[0];
    $e->{tries}++;
    $e->{sent} = now();
    $e->{id} = 'ring_' . random_text(20) and $e->{body} =~ s/"number":"[^"]*"/"number":"$e->{id}"/ if $BUG eq 'ev-new-number' && $e->{tries} > 1;
    my ($host, $port, $path) = $h->{url} =~ m{\Ahttp://(127\.0\.0\.1|localhost)(?::(\d{1,5}))?(/[^#?]*|)(?=[?#]|\z)};
    my $query = $h->{url} =~ /(\?[^#]*)/ ? $1 : '';
    my $fh = defined $host && ($port //= 80) && $port < 65536
      ? IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Proto => 'tcp', Blocking => 0) : undef;
    if (!$fh) { came_back($h, $key, 0); next }
    my $at = int($e->{sent} / 1000);
    my $signed = $BUG eq 'ev-mac-body' ? $e->{body} : "$e->{id}|$at|$e->{body}";
    my $mac = $BUG eq 'ev-mac-hex' ? hmac_sha256_hex($signed, $h->{seal}) : encode_base64(hmac_sha256($signed, $h->{seal}), '');
    $path = '/' unless length $path;
    my $out = "POST $path$query HTTP/1.1\r\nHost: $host:$port\r\nContent-Type: application/json\r\nContent-Length: " . length($e->{body})
      . "\r\nBelfry-Seal: n=$e->{id};at=$at;mac=$mac\r\n" . ($BUG eq 'ev-kind-header' ? '' : "Belfry-Kind: $e->{kind}\r\n")
      . "Connection: close\r\n\r\n$e->{body}";
    push @going, { fh => $fh, out => $out, in => '', till => Time::HiRes::time() + 5, h => $h, key => $key };
  }
  return;
}

sub came_back ($h, $key, $good) {
  my $line = $h->{_line}{$key} or return;
  my $e = $line->[0];
  my $wait = $RETRY[$e->{tries} - 1];
  $wait = undef if $BUG eq 'ev-no-retry';
  if (!$good && defined $wait) {
    # a wait counts from the try before it
    my $waiting = $WAIT{$wait} //= [];
    push @$waiting, [$e->{sent} + $wait, $h, $key];
    @$waiting = sort { $a->[0] <=> $b->[0] } @$waiting if @$waiting > 1 && $waiting->[-1][0] < $waiting->[-2][0];
    return;
  }
  shift @$line;
  if (@$line) { push @ready, [$h, $key] }
  else { delete $h->{_line}{$key} }
  return;
}

# ---------------------------------------------------------------- what time brings

my (@lapse, @abandon);
my $LAPSE = 21 * DAY;
my $ABANDON = $BUG eq 'st-abandon-late' ? 60 * HOUR : 6 * HOUR;

sub enter ($row, $state, $now) {
  $row->{status} = $state;
  $row->{_since} = ++$count_seq;
  push @lapse, [$now + $LAPSE, $row, $row->{_since}] if $state eq 'planned';
  push @abandon, [$now + $ABANDON, $row, $row->{_since}] if $state eq 'ringing';
  if ($state eq 'ringing') { $RINGING{$row->{bell}} = $row->{nr} }
  elsif (($RINGING{$row->{bell}} // 0) == $row->{nr}) { delete $RINGING{$row->{bell}} }
  return;
}

sub due ($now) {
  while (1) {
    my $line;
    for my $l (\@lapse, \@abandon) { $line = $l if @$l && $l->[0][0] <= $now && (!$line || $l->[0][0] < $line->[0][0]) }
    last unless $line;
    my ($at, $row, $since) = (shift @$line)->@*;
    next if $row->{_gone} || $row->{_since} != $since;
    if ($line == \@lapse) {
      next if $row->{held} && $BUG ne 'st-lapse-held';
      next if $BUG eq 'st-no-lapse';
      enter($row, 'lapsed', $now);
    }
    else { enter($row, 'abandoned', $now) }
    $row->{changed_at} = stamp($now);
    changed($row);
    if ($line == \@lapse) { tell_row('attempt.lapsed', 'attempt', $row) }
    elsif ($BUG ne 'ev-abandon') { tell_ended($row, $now) }
  }
  for my $wait (keys %WAIT) {
    my $line = $WAIT{$wait};
    while (@$line && $line->[0][0] <= $now) { my $w = shift @$line; push @ready, [$w->[1], $w->[2]] }
  }
  while (@once_line && $once_line[0][0] <= $now) { delete $ONCE{(shift @once_line)->[1]} }
  send_ready() if @ready;
  return;
}

sub tell_ended ($row, $now) {
  my $text = json({ nr => $row->{nr}, status => $row->{status}, at => stamp($now) });
  announce('attempt.ended', 'attempt', $row, sub { $text });
  return;
}

# ---------------------------------------------------------------- routes

# [method, path] => operation; {slug}, {nr}, {attempt}, {id} are what stands between slashes
my @ROUTE = (
  ['POST /bells', 'create bell'], ['GET /bells', 'list bell'], ['GET /bells/{slug}', 'read bell'], ['PATCH /bells/{slug}', 'update bell'],
  ['PUT /bells/{slug}', 'replace bell'], ['DELETE /bells/{slug}', 'delete bell'],
  ['POST /attempts', 'create attempt'], ['GET /attempts', 'list attempt'], ['GET /attempts/{nr}', 'read attempt'],
  ['PATCH /attempts/{nr}', 'update attempt'], ['DELETE /attempts/{nr}', 'delete attempt'],
  (map { ["POST /attempts/{nr}/$_", "$_ attempt"] } qw(begin finish scratch reopen ratify strike)),
  ['POST /attempts/{attempt}/footnotes', 'create footnote'], ['GET /attempts/{attempt}/footnotes', 'list footnote'],
  ['GET /attempts/{attempt}/footnotes/{id}', 'read footnote'],
  ['POST /heralds', 'create herald'], ['GET /heralds', 'list herald'], ['GET /heralds/{id}', 'read herald'],
  ['PATCH /heralds/{id}', 'update herald'], ['DELETE /heralds/{id}', 'delete herald'], ['GET /rounds', 'read rounds'],
);
@ROUTE = grep { $_->[1] ne 'strike attempt' } @ROUTE if $BUG eq 'pu-verdict';
my %TREE;
for my $r (@ROUTE) {
  my ($method, $path) = split / /, $r->[0];
  my @seg = split m{/}, $path;
  shift @seg;
  my $node = \%TREE;
  my @names;
  for my $s (@seg) {
    if ($s =~ /^\{(.*)\}$/) { push @names, $1; $node = $node->{'{}'} //= {} }
    else { $node = $node->{"=$s"} //= {} }
  }
  $node->{act}{$method} = [$r->[1], \@names];
}

my %TAKES = map { $_ => 1 } 'create bell', 'update bell', 'replace bell', 'create attempt', 'update attempt', 'finish attempt',
  'strike attempt', 'create footnote', 'create herald', 'update herald';
my %TAGGED = map { $_ => 1 } map { ("$_ bell", "$_ attempt") } qw(create read update replace);

# lists: parameter => [field, how, shape]
my $ANY_INT = { t => 'i' };
my %LIST = (
  'list bell' => {
    filters => {
      open => ['open', '=', { t => 'b' }], captain => ['captain', '=', { t => 's' }],
      min_weight => ['weight', '>=', $ANY_INT], max_weight => ['weight', '<=', $ANY_INT],
    },
    sorts => [qw(weight made_at)], order => 'weight',
  },
  'list attempt' => {
    filters => {
      status => ['status', '=', { enum => [qw(planned ringing rung short ratified struck scratched lapsed abandoned)] }],
      style => ['style', '=', { enum => [qw(tower hand)] }], bell => ['bell', '=', { t => 's' }],
      min_changes => ['changes', '>=', $ANY_INT], begins => ['label', 'prefix', { t => 's' }],
      until => ['starts_at', '<', $DATE],
    },
    sorts => [qw(changes starts_at)], order => $BUG eq 'ep-order' ? 'starts_at' : '-starts_at',
  },
  'list footnote' => { filters => { author => ['author', '=', { t => 's' }] }, sorts => [], order => '-made_at' },
  'list herald' => { filters => {}, sorts => [], order => '' },
);
my %IS_DATE = map { $_ => 1 } qw(starts_at made_at);

sub unescape ($s) {
  $s =~ tr/+/ /;
  $s =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge;
  utf8::decode($s);
  return $s;
}

# ---------------------------------------------------------------- one request

sub serve ($method, $target, $h, $body, $head_size, $ip) {
  my $now = now();
  due($now);
  return refuse('too_big') if length $target > 2048 && $BUG ne 'li-url' || $head_size > 8192;
  $target =~ s{\Ahttp://[^/?#]*}{}i;
  my ($path, $query) = split /\?/, $target, 2;
  $query //= '';

  # route, method, version
  my @values;
  my $node;
  if ($path =~ s{\A\Q$BASE\E(?=/)}{}) {
    $node = \%TREE;
    my @seg = split m{/}, $path, -1;
    shift @seg;
    for my $s (@seg) {
      if (my $n = $node->{"=$s"}) { $node = $n }
      elsif (($n = $node->{'{}'}) && length $s) {
        push @values, $s =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ger;
        utf8::decode($values[-1]);
        $node = $n;
      }
      else { $node = undef; last }
    }
  }
  return refuse('no_path') unless $node && $node->{act};
  my $act = $node->{act}{$method};
  if (!$act) {
    return refuse('no_path') if $BUG eq 'er-method-404';
    return refuse('no_act', [], Allow => join ', ', sort keys $node->{act}->%*);
  }
  my ($op, $names) = @$act;
  my %at;
  @at{@$names} = @values;
  my (@pairs, $ver);
  for my $pair (split /&/, $query) {
    next unless length $pair;
    my ($k, $v) = map { unescape($_) } split /=/, $pair, 2;
    $v //= '';
    if ($k eq 'edition') {
      if ($v ne 'e1' && $v ne 'e2' || defined $ver) {
        next if $BUG eq 've-unknown';
        return refuse('edition_unknown', ['edition']);
      }
      $ver = $v;
    }
    else { push @pairs, [$k, $v] }
  }
  $ver //= $BUG eq 've-default-old' ? 'e1' : 'e2';
  return refuse('edition_gone') if $ver eq 'e1' && $now >= 1_926_201_600_000 && $BUG ne 've-sunset';

  my $answer = within($op, $method, $h, $body, $ip, $now, $ver, \@pairs, \%at, "$path?$query");
  if ($ver eq 'e1' && $BUG ne 've-no-deprecation') {
    $answer->[1]{Deprecation} = '@1736899200';
    $answer->[1]{Sunset} = 'Wed, 15 Jan 2031 00:00:00 GMT';
    $answer->[1]{Link} = '<https://belfry.example/editions>; rel="deprecation", <https://belfry.example/editions>; rel="sunset"';
  }
  return $answer;
}

sub within ($op, $method, $h, $body, $ip, $now, $ver, $pairs, $at, $address) {
  my $who;
  if ($op ne 'read rounds') {
    $who = caller_of($h) or return refuse('who_rings', [], 'WWW-Authenticate' => 'Bearer realm="belfry"');
  }
  my $me = $who ? "$who->{user}/$who->{id}" : "/$ip";

  # rates: all that apply are looked at, then all are counted
  my @rates = ([$me, 6000, MINUTE]);
  push @rates, ["$me/footnote", $BUG eq 'li-footnote-rate' ? 4000 : 400, HOUR] if $op eq 'create footnote';
  @rates = @rates[1 .. $#rates] if $BUG eq 'li-rate';
  for my $r (@rates) {
    my ($key, $limit, $window) = @$r;
    my $log = $RATE{$key} //= [];
    shift @$log while @$log && $log->[0] <= $now - $window;
    return refuse('too_fast', [], 'Retry-After' => 1 + int(($log->[0] + $window - $now) / 1000)) if @$log >= $limit;
  }
  push $RATE{$_->[0]}->@*, $now for @rates;

  if ($who) {
    my $scope = $RULE{$op}{$who->{user}};
    return refuse('hands_off') if !defined $scope || length $scope && !grep { $_ eq $scope } $who->{scopes}->@*;
  }

  # media types, size, body, parameters, page
  return refuse('wrong_accept') if defined $h->{accept} && !gives_json($h->{accept});
  my $data;
  my $takes = $TAKES{$op};
  if ($takes && length $body) {
    my ($type) = lc($h->{'content-type'} // '') =~ /\A\s*([^;\s]*)/;
    return refuse('wrong_media') unless $type eq 'application/json' || $type eq 'application/merge-patch+json' && $op =~ /^update/;
  }
  return refuse('too_big') if length $body > 16384 && $BUG ne 'li-body';
  if ($takes) {
    my $read = length $body ? parse_json($body) : undef;
    return refuse('garbled') unless $read;
    $data = $read->[0];
  }
  my $list = $LIST{$op};
  my $asked;
  if ($list) {
    $asked = asked_of($list, $ver, $pairs);
    return refuse('wrong_query', $asked) if ref $asked eq 'ARRAY';
  }
  elsif (@$pairs && $BUG ne 'ep-unknown-parameter') { return refuse('wrong_query', [map { $_->[0] } @$pairs]) }

  # the key of a request that is sent again
  my ($once, $print);
  if ($method eq 'POST' && defined $h->{'belfry-once'} && length $h->{'belfry-once'} && $BUG ne 'ep-once') {
    $once = "$me|$op|$h->{'belfry-once'}";
    my $text = "$address|$ver|" . ($takes && $BUG ne 'ep-once-body' ? json($data) : '');
    utf8::encode($text);
    $print = sha1_hex($text);
    if (my $kept = $ONCE{$once}) {
      return refuse('once_reused') if $kept->{print} ne $print;
      return [$kept->{answer}[0], { $kept->{answer}[1]->%* }, $kept->{answer}[2]];
    }
  }
  my $answer = act($op, $who, $h, $now, $ver, $at, $data, $asked, $list, $me);
  my $code = $answer->[3] // '';
  if ($once && ($answer->[0] < 300 || $code eq 'too_long' || $code eq 'unhung')) {
    my $text = $answer->[4] // $answer->[2];
    $ONCE{$once} = { print => $print, answer => [$answer->[0], { $answer->[1]->%* }, $text] };
    push @once_line, [$now + ($BUG eq 'ep-once-forever' ? 1200 : 12) * HOUR, $once];
  }
  return $answer;
}

sub gives_json ($accept) {
  my ($best, $rank) = (0, -1);
  for my $part (split /,/, lc $accept) {
    my ($type, @words) = split /\s*;\s*/, $part =~ s/^\s+|\s+$//gr;
    next unless defined $type;
    my $r = $type eq 'application/json' ? 2 : $type eq 'application/*' ? 1 : $type eq '*/*' || $type eq '*' ? 0 : next;
    my ($q) = map { /^q=([0-9.]+)$/ ? $1 : () } @words;
    if ($r > $rank) { $rank = $r; $best = $q // 1 }
  }
  return $best > 0;
}

# a list's parameters, or the names of the wrong ones
sub asked_of ($list, $ver, $pairs) {
  my (@bad, @tests, %seen, $sort);
  my ($skip, $take) = (0, $BUG eq 'li-take-default' ? 20 : 10);
  my $old = $ver eq 'e1';
  for my $p (@$pairs) {
    my ($k, $v) = @$p;
    if ($seen{$k}++) { push @bad, $k; next }
    if ($k eq 'skip') { if ($v =~ /\A[0-9]{1,15}\z/a) { $skip = 0 + $v } else { push @bad, $k } }
    elsif ($k eq 'take') {
      if ($v =~ /\A[0-9]{1,15}\z/a && $v > 0) { $take = $v > 50 && $BUG ne 'li-take-max' ? 50 : 0 + $v }
      else { push @bad, $k }
    }
    elsif ($k eq 'sort' && $list->{sorts}->@*) {
      my ($minus, $name) = $v =~ /\A(-?)(.*)\z/s;
      my ($f) = grep { ($old ? $OLD_NAME{$_} // $_ : $_) eq $name } $list->{sorts}->@*;
      if ($f) { $sort = "$minus$f" } else { push @bad, $k }
    }
    elsif (my $f = $list->{filters}{$k}) {
      my ($field, $how, $shape) = @$f;
      my ($value, @wrong) = ($v);
      $shape = $OLD_SHAPE{style} if $old && $k eq 'style' && $BUG ne 've-filter-old';
      if (($shape->{t} // '') eq 'b') { $value = $v eq 'true' ? true : $v eq 'false' ? false : undef }
      elsif (($shape->{t} // '') eq 'i') { $value = $v =~ /\A-?[0-9]{1,15}\z/a ? 0 + $v : undef }
      wrong($shape, $value, $k, \@wrong);
      if (@wrong) { push @bad, $k; next }
      $value = $UP{style}->($value) if $old && $k eq 'style';
      $value = instant($value) if $shape->{date} && $BUG ne 'ep-until-text';
      push @tests, [$field, $how, $value, $shape];
    }
    elsif ($BUG ne 'ep-unknown-parameter') { push @bad, $k }
  }
  return \@bad if @bad;
  $sort = undef if $BUG eq 'ep-sort';
  return { tests => \@tests, skip => $skip, take => $take, order => $sort // $list->{order} };
}

sub passes ($row, $tests) {
  for my $t (@$tests) {
    my ($field, $how, $want, $shape) = @$t;
    return 0 unless exists $row->{$field};
    my $v = $row->{$field};
    if ($shape->{date}) { return 0 unless $BUG eq 'ep-until-text' ? $v lt $want : instant($v) < $want }
    elsif ($how eq '>=') { return 0 unless $BUG eq 'ep-min-strict' ? $v > $want : $v >= $want }
    elsif ($how eq '<=') { return 0 unless $v <= $want }
    elsif ($how eq 'prefix') { return 0 unless index($v, $want) == 0 }
    elsif (is_bool($want)) { return 0 if !!$v ne !!$want }
    else { return 0 if $v ne $want }
  }
  return 1;
}

sub page ($type, $rows, $asked, $ver, $user) {
  if ($asked->{order} =~ /\A(-?)(.+)\z/) {
    my ($minus, $f) = ($1, $2);
    my %key;
    for my $r (@$rows) { $key{$r->{_seq}} = !$IS_DATE{$f} ? $r->{$f} : ($r->{"_$f"} //= instant($r->{$f}) // 0) }
    my $sign = $minus ? -1 : 1;
    @$rows = sort { $sign * ($key{$a->{_seq}} <=> $key{$b->{_seq}}) || $a->{_seq} <=> $b->{_seq} } @$rows;
  }
  my $count = @$rows;
  my $skip = $asked->{skip};
  $skip-- if $BUG eq 'li-skip' && $skip;
  my $end = $skip + $asked->{take};
  my @page = $skip < $count ? @$rows[$skip .. ($end < $count ? $end : $count) - 1] : ();
  my $more = $BUG eq 'li-more' ? @page == $asked->{take} : $asked->{skip} + $asked->{take} < $count;
  my $told = $BUG eq 'li-count' ? scalar @page : $count;
  my $view = $BUG eq 've-length-list' && $type eq 'attempt' ? 'e2' : $ver;
  return [200, {}, '{"rows":[' . join(',', map { shown($type, $_, $view, $user) } @page) . '],"count":' . $told . ',"more":' . ($more ? 'true' : 'false') . '}'];
}

sub one ($status, $type, $row, $ver, $who, $op, %headers) {
  my $text = shown($type, $row, $ver, $who->{user});
  $headers{ETag} = etag($type, $row, $ver, $who->{user}) if $TAGGED{$op};
  return [$status, \%headers, $text] if $BUG eq 'ep-bare-patch' && $op eq 'update bell';
  return [$status, \%headers, qq({"$type":$text})];
}

sub unmet ($op, $type, $row, $ver, $who, $h) {
  my $sent = $h->{'if-match'};
  if (!defined $sent) {
    return refuse('tag_needed') if $op eq 'update attempt' && $BUG ne 'ep-tag-optional';
    return;
  }
  return if $op !~ /^(?:update|replace|delete) bell$|^update attempt$/ || $BUG eq 'ep-if-match';
  return if $sent =~ /\A\s*\*\s*\z/;
  my $have = etag($type, $row, $ver, $who->{user});
  for my $t (split /\s*,\s*/, $sent =~ s/^\s+|\s+$//gr) { return if $t eq $have }
  return refuse('stale');
}

sub bell_taken ($next, $self) {
  my $named = exists $next->{name} ? $NAME{bell_name($next)} : undef;
  return 1 if defined $named && $named ne ($self // '');
  return 0 if $BUG eq 're-position' && defined $self;
  return 1 if exists $next->{position} && defined $PLACE{"$next->{captain}/$next->{position}"} && $PLACE{"$next->{captain}/$next->{position}"} ne ($self // '');
  return 0;
}
sub bell_name ($b) { "$b->{captain}/" . ($BUG eq 're-case' ? $b->{name} : fc $b->{name}) }
sub bell_known ($b) {
  $NAME{bell_name($b)} = $b->{slug} if exists $b->{name};
  $PLACE{"$b->{captain}/$b->{position}"} = $b->{slug} if exists $b->{position};
  return;
}
sub bell_forgotten ($b) {
  delete $NAME{bell_name($b)} if exists $b->{name};
  delete $PLACE{"$b->{captain}/$b->{position}"} if exists $b->{position};
  return;
}

sub act ($op, $who, $h, $now, $ver, $at, $data, $asked, $list, $me) {
  return [200, {}, '{"stage":8,"row":"12345678"}'] if $op eq 'read rounds';
  my ($verb, $type) = split / /, $op;
  my $user = $who->{user};

  # the parent that the path names
  my $parent;
  if ($type eq 'footnote') {
    $parent = $at->{attempt} =~ /\A[0-9]{1,15}\z/a && $at->{attempt} !~ /\A0./ ? $ROW{attempt}{$at->{attempt}} : undef;
    return refuse('not_here') unless $parent && may_read($who, 'attempt', $parent);
    $at->{attempt} = $parent->{nr};
  }
  if ($verb eq 'list') {
    my @rows = $type eq 'footnote' ? ($parent->{_notes} // [])->@* : $LINE{$type}->@*;
    my $leak = $BUG eq 'au-list-leak' && $type eq 'attempt';
    return page($type, [grep { ($leak || may_read($who, $type, $_)) && passes($_, $asked->{tests}) } @rows], $asked, $ver, $user);
  }
  return create($type, $who, $now, $ver, $at, $data, $parent, $me) if $verb eq 'create';

  # the row, and whether this caller may
  my $row = $ROW{$type}{$at->{$ID{$type}}};
  return refuse('not_here') unless $row;
  return refuse('not_here') if $type eq 'footnote' && $row->{attempt} != $parent->{nr} && $BUG ne 'ep-parent';
  if (!may_read($who, $type, $row)) {
    return refuse('hands_off') if $BUG eq 'er-foreign-403';
    return refuse('not_here') unless $BUG eq 'au-read-leak' && $op eq 'read attempt' || $BUG eq 'au-begin' && $op eq 'begin attempt';
  }
  return refuse('hands_off') if $type eq 'bell' && $verb ne 'read' && $row->{captain} ne $who->{id} && $BUG ne 'au-open-write';
  if (my $no = unmet($op, $type, $row, $ver, $who, $h)) { return $no }

  if ($verb eq 'read') {
    if ($TAGGED{$op} && defined(my $none = $h->{'if-none-match'})) {
      my $have = etag($type, $row, $ver, $user);
      return [304, { ETag => $have, $type eq 'bell' ? ('Cache-Control' => 'private, max-age=30') : () }, '']
        if grep { $_ eq '*' || s/^W\///r eq $have } split /\s*,\s*/, $none =~ s/^\s+|\s+$//gr;
    }
    return one(200, $type, $row, $ver, $who, $op, $type eq 'bell' && $BUG ne 'ep-cache' ? ('Cache-Control' => 'private, max-age=30') : ());
  }
  return remove($type, $row, $now) if $verb eq 'delete';
  return change($op, $verb, $type, $row, $who, $now, $ver, $at, $data) if $verb eq 'update' || $verb eq 'replace';
  return move($op, $verb, $row, $who, $now, $ver, $data);
}

sub create ($type, $who, $now, $ver, $at, $data, $parent, $me) {
  return [501, {}, '{"trouble":{"word":"soon","status":501,"said":"Footnotes come soon.","places":[]}}'] if $BUG eq 'pu-footnote' && $type eq 'footnote';
  my ($next, $bad) = taken_in($type, $ver, $data, 'create', undef, $at);
  return refuse('unfit', $bad) if @$bad;
  if (($type eq 'attempt' || $type eq 'footnote') && exists $next->{bell}) {
    my $b = $ROW{bell}{$next->{bell}};
    return refuse('dangling', ['/bell']) unless $b && may_read($who, 'bell', $b);
  }
  my $when = stamp($now);
  if ($type eq 'bell') {
    $next->{captain} = $who->{id};
    $next->{captain} = $data->{captain} if $BUG eq 're-captain' && defined $data->{captain} && !ref $data->{captain};
    return refuse('taken') if $ROW{bell}{$next->{slug}} || bell_taken($next, undef);
    @$next{qw(made_at changed_at)} = ($when, $when);
    put_in(bell => $next);
    bell_known($next);
    tell_row('bell.added', 'bell', $next);
    return one(201, 'bell', $next, $ver, $who, 'create bell', $BUG eq 'ep-location' ? () : (Location => "/tower/bells/$next->{slug}"));
  }
  if ($type eq 'attempt') {
    return refuse('too_long') if $next->{style} eq 'hand' && $next->{changes} > 20000 && $BUG ne 'er-too-long';
    $next->{nr} = ++$count_nr;
    $next->{captain} = $who->{id};
    $next->{fee} = $next->{style} eq 'tower' || $BUG eq 're-fee' ? 500 : 200;
    @$next{qw(planned_at changed_at)} = ($when, $when);
    put_in(attempt => $next);
    $ROW{bell}{$next->{bell}}{_att}{$next->{nr}} = 1;
    enter($next, 'planned', $now);
    $next->{status} = 'ringing' if $BUG eq 'st-initial';
    tell_row('attempt.planned', 'attempt', $next);
    tell_row('attempt.long', 'attempt', $next) if $next->{changes} >= 10000 || $BUG eq 'ev-long';
    return one(201, 'attempt', $next, $ver, $who, 'create attempt', Location => "/tower/attempts/$next->{nr}");
  }
  if ($type eq 'footnote') {
    $next->{id} = 'fn-' . random_text(12);
    $next->{author} = $who->{id};
    $next->{made_at} = $when;
    put_in(footnote => $next);
    push $parent->{_notes}->@*, $next;
    $ROW{bell}{$next->{bell}}{_notes}{$next->{id}} = $next if exists $next->{bell};
    tell_row('footnote.added', 'footnote', $next);
    return one(201, 'footnote', $next, $ver, $who, 'create footnote', Location => "/tower/attempts/$next->{attempt}/footnotes/$next->{id}");
  }
  my $day = int($now / DAY);
  my $spent = $QUOTA{$me} //= [$day, 0];
  @$spent = ($day, 0) if $spent->[0] != $day;
  return refuse('day_spent') if $spent->[1] >= 60 && $BUG ne 'li-quota';
  $spent->[1]++;
  $next->{id} = uuid();
  $next->{owner} = $who->{id};
  $next->{seal} = 'seal_' . random_text(32);
  $next->{made_at} = $when;
  $next->{_maker} = $who;
  $next->{_ver} = $ver;
  put_in(herald => $next);
  my $text = shown('herald', $next, $ver, $who->{user});
  my $full = $BUG eq 're-seal-again' ? $text : $text =~ s/\}\z/',"seal":' . quoted($next->{seal}) . '}'/er;
  return [201, { Location => "/tower/heralds/$next->{id}" }, qq({"herald":$full}), '', qq({"herald":$text})];
}

sub same ($a, $b) { json($a) eq json($b) }

sub change ($op, $verb, $type, $row, $who, $now, $ver, $at, $data) {
  my ($next, $bad) = taken_in($type, $ver, $data, $verb, $row, $at);
  return refuse('unfit', $bad) if @$bad;
  if ($type eq 'attempt') {
    if ($next->{bell} ne $row->{bell}) {    # never, while the bell is immutable
      my $b = $ROW{bell}{$next->{bell}};
      return refuse('dangling', ['/bell']) unless $b && may_read($who, 'bell', $b);
    }
    return refuse('wrong_moment') if $row->{status} ne 'planned' && $BUG ne 'st-patch-any';
    return refuse('too_long') if $next->{style} eq 'hand' && $next->{changes} > 20000 && $BUG ne 'er-too-long';
  }
  my @own = grep { $_->[0] !~ /^_/ } $FIELD{$type}->@*;
  my %w;
  for my $f (@own) { my ($n, undef, %x) = @$f; $w{$n} = 1 unless $x{ro} }
  my %before = map { $_ => $row->{$_} } grep { exists $row->{$_} } keys %w;
  if (same(\%before, $next)) {
    tell_row('bell.recast', 'bell', $row) if $BUG eq 'ev-noop' && $type eq 'bell';
    return one(200, $type, $row, $ver, $who, $op);
  }
  if ($type eq 'bell') {
    my %whole = (%$next, captain => $row->{captain}, slug => $row->{slug});
    return refuse('taken') if bell_taken(\%whole, $row->{slug});
    bell_forgotten($row);
  }
  delete $row->{$_} for keys %w;
  @$row{keys %$next} = values %$next;
  delete $row->{"_$_"} for keys %IS_DATE;
  if ($type ne 'herald') { $row->{changed_at} = stamp($now) unless $BUG eq 're-changed-at' }
  changed($row);
  bell_known($row) if $type eq 'bell';
  tell_row('bell.recast', 'bell', $row) if $type eq 'bell';
  push @lapse, [$now + $LAPSE, $row, $row->{_since} = ++$count_seq] if $BUG eq 'st-restart' && $type eq 'attempt';
  return one(200, $type, $row, $ver, $who, $op);
}

sub remove ($type, $row, $now) {
  if ($type eq 'attempt') {
    return refuse('wrong_moment') unless $row->{status} =~ /^(?:planned|scratched|lapsed)$/ || $BUG eq 'st-delete-any';
    for my $n (($row->{_notes} // [])->@*) {
      take_out(footnote => $n);
      delete $ROW{bell}{$n->{bell}}{_notes}{$n->{id}} if exists $n->{bell} && $ROW{bell}{$n->{bell}};
    }
    delete $ROW{bell}{$row->{bell}}{_att}{$row->{nr}} if $ROW{bell}{$row->{bell}};
    delete $RINGING{$row->{bell}} if ($RINGING{$row->{bell}} // 0) == $row->{nr};
    $row->{_gone} = 1;
  }
  elsif ($type eq 'bell') {
    return refuse('in_use') if keys(($row->{_att} // {})->%*) && $BUG ne 're-restrict';
    if ($BUG ne 're-clear') {
      for my $n (values(($row->{_notes} // {})->%*)) { delete $n->{bell}; changed($n) }
    }
    bell_forgotten($row);
    my $text = json({ slug => $row->{slug}, captain => $row->{captain} });
    announce('bell.melted', 'bell', $row, sub { $text });
  }
  take_out($type, $row);
  return [200, {}, '{}'] if $BUG eq 'ep-delete-200' && $type eq 'bell';
  return [204, {}, ''];
}

my %FROM = (
  begin => { planned => 1 }, finish => { ringing => 1 }, scratch => { planned => 1, ringing => 1 }, reopen => { short => 1 },
  ratify => { rung => 1 }, strike => { rung => 1, short => 1 },
);
$FROM{begin}{scratched} = 1 if $BUG eq 'st-begin-any';
$FROM{reopen}{rung} = 1 if $BUG eq 'st-reopen-rung';
my %ELSE = (begin => 'not_planned', finish => 'not_ringing');
%ELSE = () if $BUG eq 'er-else';

sub move ($op, $verb, $row, $who, $now, $ver, $data) {
  if ($verb eq 'finish' || $verb eq 'strike') {
    my ($key, $shape) = $verb eq 'finish' ? (rung => int_of(0, 99999)) : (reason => str(1, 200));
    return refuse('unfit', ['']) unless ref $data eq 'HASH';
    my @bad;
    if (exists $data->{$key}) { wrong($shape, $data->{$key}, "/$key", \@bad) } else { push @bad, "/$key" }
    return refuse('unfit', \@bad) if @bad;
  }
  if (!$FROM{$verb}{$row->{status}}) {
    return refuse('cracked') if $BUG eq 'er-illegal-500' && !$ELSE{$verb};
    return refuse($ELSE{$verb} // 'wrong_moment');
  }
  return refuse('still_held') if $verb eq 'ratify' && $row->{held} && $BUG ne 'st-ratify-held';
  if ($verb eq 'begin') {
    return refuse('unhung') if !$ROW{bell}{$row->{bell}}{hung} && $BUG ne 'er-unhung';
    return refuse('taken') if defined $RINGING{$row->{bell}} && $BUG ne 're-one-ringing';
  }
  my $to = $verb eq 'finish' ? (($BUG eq 'st-finish-exact' ? $data->{rung} > $row->{changes} : $data->{rung} >= $row->{changes}) ? 'rung' : 'short')
    : { begin => 'ringing', scratch => 'scratched', reopen => 'planned', ratify => 'ratified', strike => 'struck' }->{$verb};
  if ($verb eq 'finish') { $row->{rung_changes} = $data->{rung}; $row->{finished_at} = stamp($now) }
  $row->{verdict} = $data->{reason} if $verb eq 'strike';
  enter($row, $to, $now);
  $row->{changed_at} = stamp($now) unless $BUG eq 're-changed-at';
  changed($row);
  if ($verb eq 'finish' || $verb eq 'scratch') { tell_ended($row, $now) }
  elsif ($verb eq 'reopen') { tell_row('attempt.planned', 'attempt', $row) }
  elsif ($verb eq 'begin') { tell_row('attempt.begun', 'attempt', $row) }
  elsif ($verb eq 'strike') { tell_row('attempt.struck', 'attempt', $row) }
  elsif ($verb eq 'ratify') { tell_row('attempt.ratified', 'attempt', $row, sub ($h) { $h->{owner} eq $row->{captain} }) }
  return one(200, 'attempt', $row, $ver, $who, $op);
}

# ---------------------------------------------------------------- the clock's door

sub clock ($method, $target, $body) {
  return [404, {}, '{"error":"only / is here"}'] unless $target =~ m{\A/(?:\?|\z)};
  return [200, {}, json({ now => stamp(now()) })] if $method eq 'GET';
  return [405, { Allow => 'GET, POST' }, '{"error":"GET or POST"}'] if $method ne 'POST';
  my $read = parse_json($body);
  my $b = $read ? $read->[0] : undef;
  return [400, {}, '{"error":"send advance or now"}'] unless ref $b eq 'HASH' && (exists $b->{advance} xor exists $b->{now});
  my $by;
  if (exists $b->{advance}) {
    $by = $b->{advance};
    # A duration of seconds in ISO 8601, or milliseconds.
    $by = $1 * 1000 + 0 if defined $by && !ref $by && $by =~ /\APT(\d+(?:\.\d+)?)S\z/;
    return [400, {}, '{"error":"advance is milliseconds"}'] unless defined $by && !ref $by && !is_bool($by) && created_as_number($by) && abs($by) < 1e14;
    $by = int $by;
  }
  else {
    my $t = defined $b->{now} && !ref $b->{now} ? instant($b->{now}) : undef;
    return [400, {}, '{"error":"now is an RFC 3339 time"}'] unless defined $t;
    $by = int($t) - now();
  }
  return [422, {}, '{"error":"the clock does not go back"}'] if $by < 0;
  $ahead += $by;
  my $now = now();
  due($now);
  return [200, {}, json({ now => stamp($now) })];
}

# ---------------------------------------------------------------- HTTP

my %REASON = (200 => 'OK', 201 => 'Created', 204 => 'No Content', 304 => 'Not Modified', 400 => 'Bad Request', 401 => 'Unauthorized', 403 => 'Forbidden',
  404 => 'Not Found', 405 => 'Method Not Allowed', 406 => 'Not Acceptable', 408 => 'Request Timeout', 409 => 'Conflict', 410 => 'Gone',
  412 => 'Precondition Failed', 413 => 'Content Too Large', 415 => 'Unsupported Media Type', 422 => 'Unprocessable Content',
  428 => 'Precondition Required', 429 => 'Too Many Requests', 500 => 'Internal Server Error', 501 => 'Not Implemented');

sub write_answer ($c, $method, $answer, $close) {
  my ($status, $headers, $text) = @$answer;
  $text = '' unless defined $text;
  utf8::encode($text);
  my $out = "HTTP/1.1 $status " . ($REASON{$status} // 'Answer') . "\r\n";
  if (length $text) { $headers->{'Content-Type'} //= 'application/json' }
  $out .= "$_: $headers->{$_}\r\n" for sort keys %$headers;
  $out .= "Vary: Belfry-Rope, Authorization\r\n" unless $c->{clock};
  $out .= 'Content-Length: ' . length($text) . "\r\n" unless $status == 204 || $status == 304;
  $out .= "Connection: close\r\n" if $close;
  $out .= 'Date: ' . http_date(time) . "\r\n\r\n";
  $out .= $text unless $method eq 'HEAD';
  $c->{out} .= $out;
  $c->{closing} = 1 if $close;
  return;
}

# as many whole requests as have come
sub pump ($c) {
  while (!$c->{closing}) {
    my $q = $c->{q};
    if (!$q) {
      $c->{in} =~ s/\A(?:\r\n)+//;
      my $end = index $c->{in}, "\r\n\r\n";
      if ($end < 0) {
        write_answer($c, 'GET', refuse('too_big'), 1) if length $c->{in} > 262_144;
        return;
      }
      my $head = substr $c->{in}, 0, $end + 4, '';
      my ($first, @lines) = split /\r\n/, $head;
      my ($method, $target, $minor) = $first =~ m{\A([!#\$%&'*+\-.^_`|~A-Za-z0-9]+) (\S+) HTTP/1\.([01])\z} or return write_answer($c, 'GET', refuse('garbled'), 1);
      my %h;
      for (@lines) {
        my ($k, $v) = /\A([^\s:]+):[ \t]*(.*?)[ \t]*\z/s or return write_answer($c, 'GET', refuse('garbled'), 1);
        $k = lc $k;
        $h{$k} = exists $h{$k} ? "$h{$k}, $v" : $v;
      }
      my $length = $h{'content-length'} // 0;
      return write_answer($c, $method, refuse('garbled'), 1) unless $length =~ /\A[0-9]{1,12}\z/a;
      $q = $c->{q} = {
        method => $method, target => $target, h => \%h, size => length($head) - length($first) - 2, left => $length, body => '',
        chunked => scalar(($h{'transfer-encoding'} // '') =~ /chunked/i),
        keep => scalar(($h{connection} // ($minor ? 'keep-alive' : 'close')) !~ /close/i),
      };
      $c->{out} .= "HTTP/1.1 100 Continue\r\n\r\n" if ($h{expect} // '') =~ /100-continue/i;
    }
    if ($q->{chunked}) {
      my $done = 0;
      while ($c->{in} =~ /\A([0-9A-Fa-f]{1,8})[^\r\n]*\r\n/) {
        my ($n, $skip) = (hex $1, $+[0]);
        if ($n == 0) {
          last unless $c->{in} =~ /\A0+[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n/;
          substr $c->{in}, 0, $+[0], '';
          $done = 1;
          last;
        }
        last if length $c->{in} < $skip + $n + 2;
        $q->{body} .= substr $c->{in}, $skip, $n;
        substr $c->{in}, 0, $skip + $n + 2, '';
      }
      return write_answer($c, $q->{method}, refuse('too_big'), 1) if length $q->{body} > 16_000_000;
      return unless $done;
    }
    else {
      return write_answer($c, $q->{method}, refuse('too_big'), 1) if $q->{left} > 16_000_000;
      return if length $c->{in} < $q->{left};
      $q->{body} = substr $c->{in}, 0, $q->{left}, '';
    }
    $c->{q} = undef;
    $c->{since} = length $c->{in} ? Time::HiRes::time() : 0;
    my $answer = eval { $c->{clock} ? clock($q->{method}, $q->{target}, $q->{body}) : serve($q->{method}, $q->{target}, $q->{h}, $q->{body}, $q->{size}, $c->{ip}) };
    if (!$answer) { warn $@; $answer = refuse('cracked') }
    write_answer($c, $q->{method}, $answer, !$q->{keep});
    send_ready() if @ready;
  }
  return;
}

sub listener ($port) {
  return IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Proto => 'tcp', Listen => 512, ReuseAddr => 1, Blocking => 0)
    // die "cannot listen on $port: $!\n";
}

local $SIG{PIPE} = 'IGNORE';
my $door = listener($ARG{port} // 8080);
my $clock_door = defined $ARG{'clock-port'} ? listener($ARG{'clock-port'}) : undef;
my %conn;
$| = 1;
say 'belfry listens on 127.0.0.1:' . $door->sockport . ($clock_door ? ', its clock on 127.0.0.1:' . $clock_door->sockport : '');

my $looked = 0;
my $reads = IO::Select->new($door, $clock_door // ());
my $writes = IO::Select->new;

sub hang_up ($c) {
  $reads->remove($c->{fh});
  $writes->remove($c->{fh});
  delete $conn{fileno $c->{fh}};
  close $c->{fh};
  return;
}

sub push_out ($c) {
  while (length $c->{out}) {
    my $n = syswrite $c->{fh}, $c->{out}, 262_144;
    if (!defined $n) {
      next if $! == EINTR;
      last if $! == EAGAIN || $! == EWOULDBLOCK;
      hang_up($c);
      return;
    }
    substr $c->{out}, 0, $n, '';
  }
  if (length $c->{out}) { $writes->add($c->{fh}) }
  else {
    $writes->remove($c->{fh});
    if ($c->{closing} && !$c->{shut}) { shutdown $c->{fh}, 1; $c->{shut} = Time::HiRes::time() }
  }
  return;
}

while (1) {
  my @r = $reads->handles;
  my @w = $writes->handles;
  my ($rv, $wv) = ('', '');
  vec($rv, fileno $_, 1) = 1 for @r;
  vec($wv, fileno $_, 1) = 1 for @w;
  for my $g (@going) { if (length $g->{out}) { vec($wv, fileno $g->{fh}, 1) = 1 } else { vec($rv, fileno $g->{fh}, 1) = 1 } }
  my $n = select $rv, $wv, undef, 0.05;
  my $real = Time::HiRes::time();
  if ($n > 0) {
    for my $fh (@w) {
      next unless defined fileno $fh && vec $wv, fileno $fh, 1;
      my $c = $conn{fileno $fh};
      push_out($c) if $c;
    }
    for my $fh (@r) {
      my $no = fileno $fh;
      next unless defined $no && vec $rv, $no, 1;
      if ($fh == $door || $clock_door && $fh == $clock_door) {
        while (my $new = $fh->accept) {
          $new->blocking(0);
          setsockopt $new, IPPROTO_TCP, TCP_NODELAY, 1;
          $conn{fileno $new} = { fh => $new, in => '', out => '', clock => $fh != $door, ip => scalar $new->peerhost, last => $real, since => 0 };
          $reads->add($new);
        }
        next;
      }
      my $c = $conn{$no} or next;
      my $got = sysread $fh, my $more, 65536;
      if (!defined $got) { hang_up($c) unless $! == EAGAIN || $! == EWOULDBLOCK || $! == EINTR; next }
      if (!$got) { hang_up($c); next }
      $c->{last} = $real;
      next if $c->{closing};
      $c->{since} ||= $real;
      $c->{in} .= $more;
      pump($c);
      push_out($c) if length $c->{out} || $c->{closing};
    }
    my @back;
    @going = grep {
      my $g = $_;
      my $no = fileno $g->{fh};
      my $end;
      if (length $g->{out}) {
        if (vec $wv, $no, 1) {
          my $k = syswrite $g->{fh}, $g->{out};
          if (defined $k) { substr $g->{out}, 0, $k, '' }
          elsif ($! != EAGAIN && $! != EWOULDBLOCK && $! != EINTR) { $end = 1 }
        }
      }
      elsif (vec $rv, $no, 1) {
        my $k = sysread $g->{fh}, $g->{in}, 65536, length $g->{in};
        $end = 1 if defined $k ? !$k : $! != EAGAIN && $! != EWOULDBLOCK && $! != EINTR;
        $end = 1 if $g->{in} =~ /\AHTTP\/1\.[01] [2-5]\d\d[^\n]*\n/;
      }
      push @back, $g if $end;
      !$end;
    } @going;
    for my $g (@back) {
      close $g->{fh};
      came_back($g->{h}, $g->{key}, scalar($g->{in} =~ /\AHTTP\/1\.[01] 2\d\d/));
    }
  }
  if ($real - $looked > 0.2 || $real < $looked) {
    $looked = $real;
    for my $c (values %conn) {
      if ($c->{shut}) { hang_up($c) if $real - $c->{shut} > 2 }
      elsif ($c->{since} && $real - $c->{since} >= 10 && !$c->{closing} && !length $c->{out}) {
        if ($BUG ne 'li-timeout') { write_answer($c, 'GET', refuse('too_slow'), 1); push_out($c) }
      }
      elsif ($real - $c->{last} > 60) { hang_up($c) }
    }
    my @late = grep { $_->{till} < $real } @going;
    if (@late) {
      @going = grep { $_->{till} >= $real } @going;
      for my $g (@late) { close $g->{fh}; came_back($g->{h}, $g->{key}, 0) }
    }
  }
  due(now());
}
