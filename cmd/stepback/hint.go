package main

import (
	"strings"

	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/terminal"
)

// helpAndVersionFlags rewrites the words help and version, which are verbs in many programs, into stepback's flags
// --help and
// --version.
func helpAndVersionFlags(args []string) []string {
	switch args[0] {
	case "help":
		return append(append([]string(nil), args[1:]...), "--help")
	case "version":
		return append([]string{"--version"}, args[1:]...)
	default:
		return args
	}
}

// otherWords maps verbs that users know from other programs to their names here.
var otherWords = map[string]string{
	"ls": "executions", "list": "executions", "ps": "executions", "status": "describe", "show": "describe",
	"ui": "serve, which has a console in the browser", "console": "serve, which has a console in the browser",
	"cancel": "stop", "abort": "stop", "retry": "redrive? Retry blocks and tables are in stepback retries", "events": "history", "new": "init", "lint": "validate",
}

// hint returns a suggestion for arguments that were refused, or "" if it has none.
func hint(args []string) string {
	if meant := otherWords[args[0]]; meant != "" {
		return "did you mean stepback " + meant + closing(meant)
	}
	for i, a := range args {
		before := ""
		if i > 0 {
			before = args[i-1]
		}
		switch {
		case a == "--":
			return ""
		case a == "-csv" || strings.HasPrefix(a, "-csv="):
			return "did you mean -" + a + "?"
		case args[0] != "run" || i == 0 || strings.HasPrefix(before, "-"):
		case definitions.IsDefinition(a):
			return "run imports a CSV file; did you mean stepback exec " + terminal.Quoted(a) + "?"
		case strings.HasSuffix(strings.ToLower(a), ".csv"):
			return "did you mean --csv " + terminal.Quoted(a) + "?"
		}
	}
	return ""
}

// closing returns the question mark that ends a suggestion, or "" if the suggestion already contains one.
func closing(question string) string {
	if strings.Contains(question, "?") {
		return ""
	}
	return "?"
}
