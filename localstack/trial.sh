#!/usr/bin/env bash
# Tests the import at stepback serve with an empty data directory: deploys it, imports two files, and two more as one. The server
# delivers the first file's event; run.sh sends the others. Needs the AWS command line and zip.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
server=
stop() { if [ -n "$server" ]; then kill "$server" 2>/dev/null && wait "$server" 2>/dev/null || true; fi; }
trap 'stop; rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; cat "$work/log" >&2; exit 1; }
"${GO:-go}" build -o "$work/stepback" ./cmd/stepback

# serve [FLAG…] restarts the server with additional flags and sets ENDPOINT.
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
	test -n "$ENDPOINT" || fail "stepback serve did not start within 10 seconds"
}

export DATABASE_URL=sqlite:$work/users.db
for seed in 1 2; do "$work/stepback" sample --rows 200 --seed "$seed" -o "$work/file $seed.csv"; done
echo "== event delivered by the server"
serve --object-created csv-import-local-input=csv-import-local-start
localstack/deploy.sh
WAIT=60 localstack/run.sh "$work/file 1.csv" >"$work/first" 2>"$work/notes" || fail "$(cat "$work/first" "$work/notes")"
grep '"applied": 200' "$work/first" || fail "the first file: $(cat "$work/first")"
test ! -s "$work/notes" || fail "the script sent the event: $(cat "$work/notes")"
echo "== deployed again, event sent by the script"
serve
localstack/deploy.sh
WAIT=0 localstack/run.sh "$work/file 2.csv" >"$work/second" 2>"$work/notes" || fail "$(cat "$work/second" "$work/notes")"
grep '"applied": 200' "$work/second" || fail "the second file: $(cat "$work/second")"
grep "sending the event to the function" "$work/notes"
echo "== two files as one"
mkdir "$work/november"
for seed in 3 4; do "$work/stepback" sample --rows 200 --seed "$seed" -o "$work/november/file $seed.csv"; done
WAIT=0 localstack/run.sh "$work/november" >"$work/third" 2>"$work/notes" || fail "$(cat "$work/third" "$work/notes")"
grep '"applied": 400' "$work/third" || fail "the folder: $(cat "$work/third")"
echo "trial: imported all files"
