#!/bin/sh
# Compiles what has changed into a folder of its own, and starts the service with the arguments given.
set -e
here=$(cd "$(dirname "$0")" && pwd)
stamp=$(cat "$here"/*.erl "$here"/*.hrl | cksum | tr ' ' '-')
beams="${TMPDIR:-/tmp}/granary-$(id -u)-$stamp"
if [ ! -d "$beams" ]; then
  fresh="$beams.$$"
  mkdir -p "$fresh"
  erlc -o "$fresh" "$here"/*.erl
  mv -T "$fresh" "$beams" 2>/dev/null || rm -rf "$fresh"
fi
ERL_CRASH_DUMP=/dev/null exec erl -noshell -noinput +sbwt none +S 2:2 -pa "$beams" -s granary start -extra "$@"
