package server

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stepback/aws"
	"stepback/aws/model"
)

// Words are what a service says otherwise than its model lets one think, as recordings of the real service show.
type Words struct {
	// Bytes names the shapes of strings whose length is counted in bytes of UTF-8 rather than in characters.
	Bytes []string
	// Enums lists the values of enums, by the name of the shape, in the order in which refusals list them.
	Enums map[string][]string
	// Max replaces the upper bounds of shapes, by their names.
	Max map[string]float64
	// Patterns are what strings match whose pattern in the model only Java knows, by the name of the shape. Refusals
	// quote the model's.
	Patterns map[string]*regexp.Regexp
	// QueryCodes are the codes that errors have in Query where the model does not tell them, by the name of the shape:
	// clients that once spoke Query read them in X-Amzn-Query-Error.
	QueryCodes map[string]string
	// Missing makes the refusal of a request without a member that it has to have; nil means a refusal as of other
	// broken constraints.
	Missing func(member string) *aws.Error
	// Unchecked names the shapes whose constraints the service does not hold against requests, though its model has
	// them. Their types are still checked.
	Unchecked []string
	// Whole names the structures that refusals quote with all members, absent ones as null, and the members that come
	// last, be they the model's or not.
	Whole map[string][]string
	// Long are whole refusals of strings that are too long, by the name of the shape.
	Long map[string]string
}

// rules are the constraints of all shapes of a service that requests have, compiled once.
type rules struct {
	words Words
	mu    sync.Mutex
	made  map[*model.Shape]*rule
}

// rule is what a value of a shape has to be.
type rule struct {
	shape     *model.Shape
	enum      []string
	min, max  float64 // NaN for no bound
	bytes     bool
	pattern   pattern // nil for any, and for patterns that only Java knows
	sensitive bool
	members   []memberRule
	element   *rule
	whole     []string
	long      string
	free      bool // nothing in it can be broken but its type
}

type memberRule struct {
	name, shown string // shown begins with a small letter
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
	r.made[s] = c // before its parts, which may be made of it
	if !slices.Contains(r.words.Unchecked, s.Name) {
		r.constrain(c)
	}
	switch s.Type {
	case model.Structure:
		for _, m := range s.Members {
			if s.Payload == m && m.Shape.Type == model.Blob {
				continue // it is beside the document
			}
			c.members = append(c.members, memberRule{m.Name, lowerFirst(m.Name), m.Required, r.compile(m.Shape)})
		}
		c.whole = r.words.Whole[s.Name]
	case model.List, model.Map:
		c.element = r.compile(s.Element.Shape)
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
	if p, ok := r.words.Patterns[s.Name]; ok {
		c.pattern = p
		return
	}
	if s.Pattern != "" && s.Type == model.String {
		p, err := compilePattern(strings.ReplaceAll(s.Pattern, `\p{ASCII}`, `[\x00-\x7f]`))
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
