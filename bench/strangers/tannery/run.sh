#!/bin/sh
# Compiles when the sources are newer, then starts the service: sh run.sh [--port N] [--clock-port N] [--fault NAME]
cd "$(dirname "$0")" || exit 1
out="${TANNERY_BUILD:-build}"
for f in *.java; do
  [ "$out/Tannery.class" -nt "$f" ] && continue
  mkdir -p "$out" && new=$(mktemp -d "$out/new.XXXXXX") && javac -d "$new" ./*.java || exit 1
  # the class that is looked at comes last, so that others who start meanwhile find all of them
  mv "$new/Tannery.class" "$new/last" && mv -f "$new"/*.class "$out" && mv -f "$new/last" "$out/Tannery.class" && rmdir "$new" || exit 1
  break
done
exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx128m -cp "$out" Tannery "$@"
