package csvimport

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"stepback/retry"
)

// Limits of a record.
const (
	MaxUserIDLength = 256 // characters
	maxCountLength  = 40  // characters of a count, including leading zeros
)

// Record is one row of a file as the distributed Map passes it: every value is text. Line, Problem and Letter occur
// only in a normalised copy, and Letter only in that of a file with a column letter.
type Record struct {
	UserID     string `json:"user_id"`
	LoginCount string `json:"login_count"`
	PostCount  string `json:"post_count"`
	Line       string `json:"line,omitempty"`    // line number in the uploaded file
	Problem    string `json:"problem,omitempty"` // why the row must be rejected; empty if it is valid
	Letter     string `json:"letter,omitempty"`  // ID of the dead letter that the row came out of; see LetterID
}

// Problem is an error in one column of one row.
type Problem struct {
	Line    int64  `json:"line"`   // line in the uploaded file, from 1
	Column  string `json:"column"` // empty if the problem concerns the whole row
	Message string `json:"message"`
}

// Increment parses the record. Blanks around a value are ignored. The user id has 1 to 256 characters and no NUL. A
// count is a whole number from 0 to 9223372036854775807 in the digits 0 to 9, without sign or separators. A record
// that violates one of these rules is a ValidationError.
func (r Record) Increment() (Increment, error) {
	if r.Problem != "" {
		return Increment{}, Fail(retry.ValidationError, "%s%s", r.place(), r.Problem)
	}
	inc, problems := ParseFields(r.UserID, r.LoginCount, r.PostCount)
	if len(problems) > 0 {
		return Increment{}, Fail(retry.ValidationError, "%s%s", r.place(), JoinProblems(problems))
	}
	return inc, nil
}

func (r Record) place() string {
	if r.Line == "" {
		return ""
	}
	return "line " + r.Line + ": "
}

// ParseFields parses the three values of a record. It returns every problem, at most one per column, without line
// numbers.
func ParseFields(userID, loginCount, postCount string) (Increment, []Problem) {
	var problems []Problem
	note := func(column, message string) {
		if message != "" {
			problems = append(problems, Problem{Column: column, Message: message})
		}
	}
	inc := Increment{UserID: strings.TrimSpace(userID)}
	note("user_id", checkUserID(inc.UserID))
	var message string
	inc.LoginCount, message = parseCount(loginCount)
	note("login_count", message)
	inc.PostCount, message = parseCount(postCount)
	note("post_count", message)
	return inc, problems
}

// JoinProblems returns all problems of a row in one sentence.
func JoinProblems(problems []Problem) string {
	parts := make([]string, len(problems))
	for i, p := range problems {
		parts[i] = p.Message
		if p.Column != "" {
			parts[i] = p.Column + " " + p.Message
		}
	}
	return strings.Join(parts, "; ")
}

func checkUserID(id string) string {
	if id == "" {
		return "is empty: give the user's id"
	}
	if strings.IndexByte(id, 0) >= 0 {
		return "holds a NUL byte: remove it"
	}
	if len(id) > MaxUserIDLength {
		if n := utf8.RuneCountInString(id); n > MaxUserIDLength {
			return fmt.Sprintf("has %d characters: at most %d are allowed", n, MaxUserIDLength)
		}
	}
	return ""
}

// parseCount parses a count, or returns what is wrong with it.
func parseCount(text string) (int64, string) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return 0, "is empty: write 0 if there was none"
	case len(text) > maxCountLength:
		return 0, fmt.Sprintf("is %d characters long, too long for a count: write a whole number from 0 to 9223372036854775807", utf8.RuneCountInString(text))
	}
	if isDigits(text) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, text + " is too large: the largest count is 9223372036854775807"
		}
		return n, ""
	}
	if len(text) > 1 && text[0] == '-' && isDigits(text[1:]) {
		return 0, text + " is negative: counts are added, so only 0 and more are allowed"
	}
	return 0, strconv.Quote(text) + " is not a whole number: use the digits 0 to 9 only, without sign, separators or decimals"
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
