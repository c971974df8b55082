#!/usr/bin/env bash
# Prints the findings of validate or retries review as annotations of GitHub: one line for each finding, read from the JSON on
# standard input. It needs jq, which GitHub's runners have.
# usage: annotate.sh [accepted]   accepted leaves out files that were refused or not read: validate has annotated them
set -euo pipefail
# GitHub's paths have slashes, those of Windows' builds backslashes.
slashes=.
if [ "${RUNNER_OS:-}" = Windows ]; then slashes='gsub("\\\\"; "/")'; fi
jq -r --arg which "${1:-all}" '.[] | select($which == "all" or .result == "OK") | (.file | sub("#[^#/]*$"; "") | '"$slashes"') as $file | (.reason // empty | "::error file=\($file)::not read: \(.)"),
	(.diagnostics[] | "::\({ERROR: "error", WARNING: "warning"}[.severity] // "notice") file=\($file),line=\([.line, 1] | max),col=\([.column, 1] | max),title=\(.code)::\(
		.message + (.hint // "" | if . == "" then . else " (\(.))" end) | gsub("%"; "%25") | gsub("\r"; "%0D") | gsub("\n"; "%0A"))")'
