package csvfile

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
