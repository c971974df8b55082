package csvfile

import "bytes"

// Delimiter is the character that separates the columns of a file.
type Delimiter byte

// The delimiters that are recognised in the header.
const (
	Comma     Delimiter = ','
	Tab       Delimiter = '\t'
	Semicolon Delimiter = ';'
)

// String returns the delimiter's name.
func (d Delimiter) String() string {
	switch d {
	case Tab:
		return "tab"
	case Semicolon:
		return "semicolon"
	default:
		return "comma"
	}
}

// separatorLine returns the delimiter that a line such as "sep=;" announces, or 0 if the row is none. Excel writes and
// reads this line above the header.
func separatorLine(row *rawRow) Delimiter {
	text := bytes.Join(row.fields, []byte{byte(Comma)})
	name, value, _ := bytes.Cut(text, []byte("="))
	if len(value) != 1 || !bytes.EqualFold(name, []byte("sep")) || row.traits&traitQuoted != 0 {
		return 0
	}
	switch d := Delimiter(value[0]); d {
	case Comma, Tab, Semicolon:
		return d
	}
	return 0
}
