#!/bin/sh
# Compiles the service into a temporary folder that is named by the checksum of its sources, and starts it.
here=$(cd "$(dirname "$0")" && pwd)
sum=$(cat "$here"/*.java | sha256sum | cut -c1-24)
out="${TMPDIR:-/tmp}/mews-$sum"
if [ ! -f "$out/Mews.class" ]; then
  tmp=$(mktemp -d "${TMPDIR:-/tmp}/mews-build-XXXXXX")
  javac -nowarn -d "$tmp" "$here"/*.java || exit 1
  mv -T "$tmp" "$out" 2>/dev/null || rm -rf "$tmp"
fi
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -Xmx256m -cp "$out" Mews "$@"
