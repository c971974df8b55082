package server

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stepback/aws"
	"stepback/aws/javapattern"
	"stepback/aws/model"
	"stepback/jsonvalue"
)

// Words holds the deviations of a service's behaviour and messages from its model, as seen in recordings of the
// real service.
type Words struct {
	// Bytes names the shapes of strings whose length is counted in UTF-8 bytes instead of characters.
	Bytes []string
	// Enums lists the values of enums, by the name of the shape, in the order in which error messages list them.
	Enums map[string][]string
	// Max replaces the upper bounds of shapes, by their names.
	Max map[string]float64
	// Patterns replaces patterns of the model that only Java supports, by the name of the shape. Error messages
	// still quote the model's pattern.
	Patterns map[string]*regexp.Regexp
	// QueryCodes holds the Query codes of errors that the model lacks, by the name of the shape. Clients of a
	// service that formerly used Query read them from X-Amzn-Query-Error.
	QueryCodes map[string]string
	// Pattern returns the pattern that the service has instead of one of the model; nil means that it has those of the
	// model. Error messages quote it.
	Pattern func(pattern string) string
	// Doubles writes whole numbers of type double with a point in AWS JSON: 30.0. It costs some time.
	Doubles bool
	// QueryDetail adds an empty element Detail to errors in the Query protocol.
	QueryDetail bool
	// Missing returns the error for a request that lacks a required member. If Missing is nil, the error is the
	// same as for other violated constraints.
	Missing func(member string) *aws.Error
	// Unchecked names the shapes whose constraints the service does not enforce, although its model has them. Their
	// types are still checked.
	Unchecked []string
	// Whole names the structures that error messages quote with all members; absent members are quoted as null. For
	// each structure it lists the members that come last, even if the model does not have them.
	Whole map[string][]string
	// Long holds complete error messages for strings that are too long, by the name of the shape.
	Long map[string]string
}

// CheckInput checks a document against the input of an operation, as a service with these words does before it calls
// the operation. The error is an *aws.Error in the words of AWS's services, which lists every violated constraint.
func CheckInput(o *model.Operation, words Words, document jsonvalue.Value) error {
	r := rules{words: words, made: map[*model.Shape]*rule{}}
	if err := r.of(o.Input).check(document); err != nil {
		return err
	}
	return nil
}

// rules holds the compiled constraints of all shapes in a service's requests.
type rules struct {
	words Words
	mu    sync.Mutex
	made  map[*model.Shape]*rule
}

// rule holds the constraints for a value of a shape.
type rule struct {
	shape     *model.Shape
	enum      []string
	min, max  float64 // NaN for no bound
	bytes     bool
	quoted    string              // the pattern in error messages
	pattern   javapattern.Pattern // nil for any text, and for a pattern that cannot be compiled
	sensitive bool
	members   []memberRule
	element   *rule
	key       *rule // of a map's keys; nil if they have no pattern
	whole     []string
	long      string
	free      bool // nothing in it but its type can be invalid
}

type memberRule struct {
	name, shown string // shown begins with a lower-case letter
	required    bool
	rule        *rule
}

// of compiles the constraints of a shape.
func (r *rules) of(s *model.Shape) *rule {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.compile(s)
}

func (r *rules) compile(s *model.Shape) *rule {
	if c, ok := r.made[s]; ok {
		return c
	}
	c := &rule{shape: s, sensitive: s.Sensitive, min: math.NaN(), max: math.NaN()}
	r.made[s] = c // before its parts, which may refer to it
	if !slices.Contains(r.words.Unchecked, s.Name) {
		r.constrain(c)
	}
	switch s.Type {
	case model.Structure:
		for _, m := range s.Members {
			if s.Payload == m && m.Shape.Type == model.Blob {
				continue // it is separate from the document
			}
			c.members = append(c.members, memberRule{m.Name, lowerFirst(m.Name), m.Required, r.compile(m.Shape)})
		}
		c.whole = r.words.Whole[s.Name]
	case model.List, model.Map:
		c.element = r.compile(s.Element.Shape)
		if s.Key != nil && s.Key.Shape.Pattern != "" {
			c.key = r.compile(s.Key.Shape)
		}
	default:
		c.free = len(c.enum) == 0 && c.pattern == nil && math.IsNaN(c.min) && math.IsNaN(c.max)
	}
	return c
}

func (r *rules) constrain(c *rule) {
	s := c.shape
	c.enum = s.Enum
	if words, ok := r.words.Enums[s.Name]; ok {
		c.enum = words
	}
	c.bytes = slices.Contains(r.words.Bytes, s.Name)
	if s.Min != nil {
		c.min = *s.Min
	}
	if s.Max != nil {
		c.max = *s.Max
	}
	c.long = r.words.Long[s.Name]
	if most, ok := r.words.Max[s.Name]; ok {
		c.max = most
	}
	c.quoted = s.Pattern
	if r.words.Pattern != nil && s.Pattern != "" {
		c.quoted = r.words.Pattern(s.Pattern)
	}
	if p, ok := r.words.Patterns[s.Name]; ok {
		c.pattern = p
		return
	}
	if s.Pattern != "" && s.Type == model.String {
		p, err := javapattern.Compile(c.quoted)
		if err == nil {
			c.pattern = p
		}
	}
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
