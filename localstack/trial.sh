#!/usr/bin/env bash
# Serves stepback on a fresh data directory, puts the CSV import there as on AWS and imports two files: one that the server announces, and one
# that the script hands over. Needs the AWS command line and zip.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
server=
stop() { if [ -n "$server" ]; then kill "$server" 2>/dev/null && wait "$server" 2>/dev/null || true; fi; }
trap 'stop; rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; cat "$work/log" >&2; exit 1; }
"${GO:-go}" build -o "$work/stepback" ./cmd/stepback

# serve starts the server and sets ENDPOINT: the flags that are to be added.
serve() {
	stop
	"$work/stepback" serve --listen 127.0.0.1:0 --data "$work/data" "$@" 2>"$work/log" &
	server=$!
	ENDPOINT=
	for _ in $(seq 100); do
		ENDPOINT=$(sed -n 's/^stepback: serving on //p' "$work/log")
		if [ -n "$ENDPOINT" ]; then break; fi
		sleep 0.1
	done
	export ENDPOINT
	test -n "$ENDPOINT" || fail "stepback does not serve"
}

export DATABASE_URL=sqlite:$work/users.db
for seed in 1 2; do "$work/stepback" sample --rows 200 --seed "$seed" -o "$work/file $seed.csv"; done
echo "== announced by the server"
serve --object-created csv-import-local-input=csv-import-local-start
localstack/deploy.sh
WAIT=60 localstack/run.sh "$work/file 1.csv" >"$work/first" 2>"$work/notes" || fail "$(cat "$work/first" "$work/notes")"
grep '"applied": 200' "$work/first" || fail "the first file: $(cat "$work/first")"
test ! -s "$work/notes" || fail "the script has handed the event over: $(cat "$work/notes")"
echo "== deployed again, handed over by the script"
serve
localstack/deploy.sh
WAIT=0 localstack/run.sh "$work/file 2.csv" >"$work/second" 2>"$work/notes" || fail "$(cat "$work/second" "$work/notes")"
grep '"applied": 200' "$work/second" || fail "the second file: $(cat "$work/second")"
grep "handed to the function" "$work/notes"
echo "trial: both files are imported"
