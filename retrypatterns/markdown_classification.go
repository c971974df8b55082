package retrypatterns

import (
	"cmp"
	"strconv"
	"strings"
)

// classificationTable is one kind of identity with its rules, for printing.
type classificationTable struct {
	title, key string
	rows       []classificationRow
}

type classificationRow struct {
	identity, meaning string
	verdict           verdict
}

// classificationTables lists the rules in the order in which [Classify] consults them; the two kinds that need a
// separate call come before the messages.
func classificationTables() []classificationTable {
	return []classificationTable{
		{"SQLSTATE (PostgreSQL, Aurora)", "SQLSTATE", sqlRows()},
		{"SQLite result code", "Code", sqliteRows()},
		{"AWS error code", "Code", awsRows()},
		{"HTTP status", "Status", httpRows()},
		{"gRPC code", "Code", grpcRows()},
		{"Network, TLS, DNS and operating system errors of Go", "Error value", networkRows()},
		{"Message text, where no code exists", "Text", messageRows()},
	}
}

func httpRows() []classificationRow {
	rows := make([]classificationRow, 0, len(httpRules))
	for _, r := range httpRules {
		status := strconv.Itoa(r.from)
		if r.to > r.from {
			status += "–" + strconv.Itoa(r.to)
		}
		rows = append(rows, classificationRow{status, r.meaning, r.verdict})
	}
	return rows
}

func grpcRows() []classificationRow {
	var rows []classificationRow
	for code, r := range grpcRules {
		if r.verdict.name != "" {
			rows = append(rows, classificationRow{strconv.Itoa(code), r.name, r.verdict})
		}
	}
	return rows
}

func sqlRows() []classificationRow {
	var rows []classificationRow
	for _, r := range sqlRules {
		code := r.code
		if len(code) == 2 {
			code += "…"
		}
		rows = append(rows, classificationRow{code, r.meaning, r.verdict})
	}
	return append(rows, classificationRow{"all others",
		"data exceptions (22…), constraints (23…), syntax (42…) and the like", refusedBySQL})
}

func sqliteRows() []classificationRow {
	var rows []classificationRow
	for _, r := range sqliteRules {
		rows = append(rows, classificationRow{strconv.Itoa(r.code), r.name, r.verdict})
	}
	return append(rows, classificationRow{"all others", "constraints, mismatches, misuse", refusedBySQL})
}

func awsRows() []classificationRow {
	rows := make([]classificationRow, 0, len(awsRules))
	for _, r := range awsRules {
		codes := "`" + strings.Join(r.codes, "` `") + "`"
		rows = append(rows, classificationRow{codes, cmp.Or(r.service, "any service"), r.verdict})
	}
	return rows
}

func networkRows() []classificationRow {
	rows := make([]classificationRow, 0, len(networkRules))
	for _, r := range networkRules {
		rows = append(rows, classificationRow{r.meaning, "", r.verdict})
	}
	return rows
}

func messageRows() []classificationRow {
	rows := make([]classificationRow, 0, len(messageRules))
	for _, r := range messageRules {
		rows = append(rows, classificationRow{"`" + r.text + "`", "", r.verdict})
	}
	return rows
}
