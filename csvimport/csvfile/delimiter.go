package csvfile

// Delimiter separates the columns of a file.
type Delimiter byte

// The delimiters that are recognised, by the header.
const (
	Comma     Delimiter = ','
	Tab       Delimiter = '\t'
	Semicolon Delimiter = ';'
)

// String is the delimiter's name.
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
