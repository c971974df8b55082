package resultshape

// Type is how a value looks in the result of a task.
type Type string

// The types. A timestamp and a blob are strings.
const (
	Any        Type = ""
	String     Type = "string"
	Number     Type = "number"
	Boolean    Type = "boolean"
	Array      Type = "array"
	Dictionary Type = "map"
	Object     Type = "object"
)

// Service is what is known of a service: the index of the shape that each operation answers with.
type Service struct {
	Operations map[string]int `json:"operations"`
	Shapes     []Shape        `json:"shapes"`
}

// Shape is what a value must be like.
type Shape struct {
	Type Type `json:"type,omitempty"`
	// Members are those of an object, the required ones first.
	Members []Member `json:"members,omitempty"`
	// Element is the index of the shape of an array's elements, or of a dictionary's values.
	Element int `json:"element,omitempty"`
	// Enum are the values that a string may have; none means any.
	Enum []string `json:"enum,omitempty"`
	// Min and Max bound a number, and the length of a string in characters, of an array and of a dictionary.
	Min *float64 `json:"min,omitempty"`
	Max *float64 `json:"max,omitempty"`
}

// Member is a member of an object.
type Member struct {
	// Name is the model's with a capital, as results of optimized integrations have it.
	Name string `json:"name"`
	// SDK is the name in results of AWS SDK integrations where it is another.
	SDK      string `json:"sdk,omitempty"`
	Shape    int    `json:"shape"`
	Required bool   `json:"required,omitempty"`
}
