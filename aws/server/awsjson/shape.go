package awsjson

import "regexp"

// Kind is the JSON type of a member.
type Kind uint8

// The kinds of members.
const (
	String Kind = iota
	Integer
	Number
	Boolean
	List
	Structure
	Map
)

// Member describes one member of a request and its constraints, as the service's model has them.
type Member struct {
	Name     string
	Kind     Kind
	Required bool
	// Min and Max bound the length of a string, list or map, or the value of a number. Max 0 means no upper bound.
	Min, Max int64
	// Bytes says that Max counts the bytes of a string's UTF-8 form rather than its characters.
	Bytes bool
	// Sensitive says that refusals do not quote the value.
	Sensitive bool
	// Enum are the values that a string may have, in the order in which the service lists them.
	Enum []string
	// Pattern is what a whole string must match; Shown is how the service writes it.
	Pattern *regexp.Regexp
	Shown   string
	// Members are those of a structure, or of the structures in a list.
	Members []Member
	// Shape is the name of the structures in a list, which refusals of the list show.
	Shape string
	// Element constrains the strings of a list, or the values of a map from strings to strings.
	Element *Member
}
