package retry

import (
	"cmp"
	"strconv"
	"strings"
)

// Classifier describes, for printing, one of the ways in which [Classify] and its siblings recognise errors, with
// everything that it recognises.
type Classifier struct {
	// Title names the kind of identity, such as "HTTP status". Key is the heading of the column of identities, such
	// as "Status".
	Title, Key string
	Rows       []ClassifierRow
}

// ClassifierRow maps an identity, or a range of identities, to an error name and a class.
type ClassifierRow struct {
	Identity, Meaning string
	// Error and Class are those of the [Classification].
	Error string
	Class Class
}

func (v verdict) row(identity, meaning string) ClassifierRow {
	return ClassifierRow{identity, meaning, v.name, v.class}
}

// Classifiers lists all identities that this package recognises, and how it classifies them.
func Classifiers() []Classifier {
	return []Classifier{
		{"SQLSTATE (PostgreSQL, Aurora)", "SQLSTATE", sqlRows()},
		{"SQLite result code", "Code", sqliteRows()},
		{"AWS error code", "Code", awsRows()},
		{"HTTP status", "Status", httpRows()},
		{"gRPC code", "Code", grpcRows()},
		{"Network, TLS, DNS and operating system errors of Go", "Error value", networkRows()},
		{"Message text, where no code exists", "Text", messageRows()},
	}
}

func httpRows() []ClassifierRow {
	rows := make([]ClassifierRow, 0, len(httpRules))
	for _, r := range httpRules {
		status := strconv.Itoa(r.from)
		if r.to > r.from {
			status += "–" + strconv.Itoa(r.to)
		}
		rows = append(rows, r.verdict.row(status, r.meaning))
	}
	return rows
}

func grpcRows() []ClassifierRow {
	var rows []ClassifierRow
	for code, r := range grpcRules {
		if r.verdict.name != "" {
			rows = append(rows, r.verdict.row(strconv.Itoa(code), r.name))
		}
	}
	return rows
}

func sqlRows() []ClassifierRow {
	var rows []ClassifierRow
	for _, r := range sqlRules {
		code := r.code
		if len(code) == 2 {
			code += "…"
		}
		rows = append(rows, r.verdict.row(code, r.meaning))
	}
	return append(rows, refusedBySQL.row("all others", "data exceptions (22…), constraints (23…), syntax (42…) and the like"))
}

func sqliteRows() []ClassifierRow {
	var rows []ClassifierRow
	for _, r := range sqliteRules {
		rows = append(rows, r.verdict.row(strconv.Itoa(r.code), r.name))
	}
	return append(rows, refusedBySQL.row("all others", "constraints, mismatches, misuse"))
}

func awsRows() []ClassifierRow {
	rows := make([]ClassifierRow, 0, len(awsRules))
	for _, r := range awsRules {
		codes := "`" + strings.Join(r.codes, "` `") + "`"
		rows = append(rows, r.verdict.row(codes, cmp.Or(r.service, "any service")))
	}
	return rows
}

func networkRows() []ClassifierRow {
	rows := make([]ClassifierRow, 0, len(networkRules))
	for _, r := range networkRules {
		rows = append(rows, r.verdict.row(r.meaning, ""))
	}
	return rows
}

func messageRows() []ClassifierRow {
	rows := make([]ClassifierRow, 0, len(messageRules))
	for _, r := range messageRules {
		rows = append(rows, r.verdict.row("`"+r.text+"`", ""))
	}
	return rows
}
