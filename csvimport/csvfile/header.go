package csvfile

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"stepback/csvimport"
	"stepback/statemachine"
)

// column is the meaning of a column of the file.
type column int

const (
	columnUnknown column = iota
	columnUserID
	columnLoginCount
	columnPostCount
	columnLetter  // ID of the dead letter that the row came out of
	columnIgnored // one of the other columns that a corrections file adds
)

// columnNames maps the accepted headers, folded by fold, to their columns.
var columnNames = map[string]column{
	"user_id": columnUserID, "ユーザーid": columnUserID,
	"login_count": columnLoginCount, "ログイン回数": columnLoginCount,
	"post_count": columnPostCount, "投稿回数": columnPostCount,
	"line": columnIgnored, "error": columnIgnored, "reason": columnIgnored, "letter": columnLetter,
}

var canonicalNames = [...]string{columnUserID: "user_id", columnLoginCount: "login_count",
	columnPostCount: "post_count"}

// unlettered is the fault of a corrections file whose rows cannot be matched with their dead letters. If they were
// imported as new rows, a row could be counted once for each of its ways out of the dead letter.
const unlettered = "the column letter of the corrections file is missing, without which a row that was redriven could be counted twice: restore it, or remove the columns line, error and reason as well to import all rows as new ones"

const acceptedHeader = "expected are the columns user_id (or ユーザーID), login_count (or ログイン回数) and post_count (or 投稿回数), each once, in any order; a corrections file keeps its columns line, error, reason and letter"

// fold normalises a name for comparison: NFKC (so that full-width and half-width letters are equal), lower case,
// without surrounding blanks.
func fold(name string) string {
	return strings.ToLower(strings.TrimSpace(norm.NFKC.String(name)))
}

// header is a parsed header row.
type header struct {
	columns    []column
	canonical  bool // exactly user_id,login_count,post_count
	correction bool // has columns of a corrections file
	emptyLast  bool // ends with a delimiter
	lettered   bool // has the column letter
}

// known returns the number of columns that have an accepted name.
func known(fields [][]byte) int {
	var n int
	for _, f := range fields {
		if columnNames[fold(string(f))] != columnUnknown {
			n++
		}
	}
	return n
}

// readHeader parses a header row. An empty last column, which Excel writes, does not count. It fails with
// CSVHeaderInvalid, naming the wrong columns and what is accepted.
func readHeader(row *rawRow, delimiter Delimiter) (header, error) {
	h := header{canonical: row.traits == 0 && len(row.fields) == 3 && delimiter == Comma}
	first := map[string]int{}
	var faults []string
	if last := len(row.fields) - 1; last > 0 && len(bytes.TrimSpace(row.fields[last])) == 0 {
		row.fields = row.fields[:last]
		h.emptyLast, h.canonical = true, false
	}
	for i, f := range row.fields {
		name := fold(string(f))
		c := columnNames[name]
		id := name
		switch c {
		case columnUserID, columnLoginCount, columnPostCount:
			id = canonicalNames[c]
			h.canonical = h.canonical && int(c) == i+1 && string(f) == id
		case columnLetter:
			h.correction, h.lettered = true, true
		case columnIgnored:
			h.correction = true
		case columnUnknown: // a fault, below
		}
		if c == columnUnknown {
			faults = append(faults, fmt.Sprintf("column %d %s is not known", i+1, strconv.Quote(abbreviate(string(f)))))
		} else if at, twice := first[id]; twice {
			faults = append(faults, fmt.Sprintf("%s occurs twice, in columns %d and %d", id, at, i+1))
		} else {
			first[id] = i + 1
		}
		h.columns = append(h.columns, c)
	}
	for _, name := range canonicalNames[columnUserID:] {
		if first[name] == 0 {
			faults = append(faults, name+" is missing")
		}
	}
	if h.correction && !h.lettered {
		faults = append(faults, unlettered)
	}
	if len(faults) == 0 {
		return h, nil
	}
	hint := ""
	if known(row.fields) == 0 && looksLikeData(row.fields) {
		hint = "; the first row looks like data: put a header row above it"
	}
	return header{}, csvimport.Fail(statemachine.CSVHeaderInvalid, "line %d: %s (columns separated by %s); %s%s",
		row.line, listFaults(faults), delimiter, acceptedHeader, hint)
}

// listFaults joins the faults of a header. If there are many, it lists the first seven and the last three, because
// the last ones name the missing columns. The message goes into the execution's history and a notification, which
// have no space for thousands of columns.
func listFaults(faults []string) string {
	const first, last = 7, 3
	if more := len(faults) - first - last; more > 1 {
		faults = slices.Concat(faults[:first], []string{strconv.Itoa(more) + " more"}, faults[len(faults)-last:])
	}
	return strings.Join(faults, ", ")
}

func looksLikeData(fields [][]byte) bool {
	for _, f := range fields {
		if _, err := strconv.Atoi(strings.TrimSpace(string(f))); err == nil {
			return true
		}
	}
	return false
}

func abbreviate(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
