package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"stepback/aws/resultshape"
	"stepback/tasks/awssdk"
)

// model is an API model as far as it is needed here.
type model struct {
	Metadata struct {
		ID      string `json:"serviceId"`
		Prefix  string `json:"endpointPrefix"`
		Version string `json:"apiVersion"`
	} `json:"metadata"`
	Operations map[string]struct {
		Output *reference `json:"output"`
	} `json:"operations"`
	Shapes map[string]*shape `json:"shapes"`
}

type reference struct {
	Shape string `json:"shape"`
}

type shape struct {
	Type     string                `json:"type"`
	Members  map[string]*reference `json:"members"`
	Required []string              `json:"required"`
	Member   *reference            `json:"member"`
	Value    *reference            `json:"value"`
	Enum     []string              `json:"enum"`
	Min      *float64              `json:"min"`
	Max      *float64              `json:"max"`
	Document bool                  `json:"document"`
	Stream   bool                  `json:"eventstream"`
}

// table is what the archive says of a service: its operations, and the shapes that their results are made of.
func (m *model) table() *resultshape.Service {
	t := &tabulation{model: m, structures: map[string]int{}, leaves: map[string]int{}}
	t.out.Operations = map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(m.Operations)) {
		if o := m.Operations[name].Output; o != nil {
			t.out.Operations[name] = t.index(o.Shape)
		}
	}
	return &t.out
}

type tabulation struct {
	model      *model
	out        resultshape.Service
	structures map[string]int // by the model's name, since they may hold themselves
	leaves     map[string]int // all others, by what they say
}

// index is the number of a shape in the table.
func (t *tabulation) index(name string) int {
	s := t.model.Shapes[name]
	switch {
	case s.Document || s.Stream:
		return t.leaf(resultshape.Shape{Type: resultshape.Any})
	case s.Type == "structure", s.Type == "list", s.Type == "map":
		return t.compound(name, s)
	}
	return t.leaf(resultshape.Shape{Type: kinds[s.Type], Min: s.Min, Max: s.Max, Enum: s.Enum})
}

// kinds are the types of models that are no compounds, as they look in a result.
var kinds = map[string]resultshape.Type{
	"string": resultshape.String, "character": resultshape.String, "timestamp": resultshape.String,
	"blob":    resultshape.String,
	"integer": resultshape.Number, "long": resultshape.Number, "float": resultshape.Number,
	"double":  resultshape.Number,
	"boolean": resultshape.Boolean, "jsonvalue": resultshape.Any,
}

func (t *tabulation) leaf(s resultshape.Shape) int {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // numbers and strings
	}
	i, ok := t.leaves[string(text)]
	if !ok {
		i = t.add(s)
		t.leaves[string(text)] = i
	}
	return i
}

func (t *tabulation) add(s resultshape.Shape) int {
	t.out.Shapes = append(t.out.Shapes, s)
	return len(t.out.Shapes) - 1
}

func (t *tabulation) compound(name string, s *shape) int {
	if i, ok := t.structures[name]; ok {
		return i
	}
	i := t.add(resultshape.Shape{})
	t.structures[name] = i
	made := resultshape.Shape{Min: s.Min, Max: s.Max}
	switch s.Type {
	case "list":
		made.Type, made.Element = resultshape.Array, t.index(s.Member.Shape)
	case "map":
		made.Type, made.Element = resultshape.Dictionary, t.index(s.Value.Shape)
	default:
		made.Type, made.Members = resultshape.Object, t.members(s)
	}
	t.out.Shapes[i] = made
	return i
}

// members lists the required members first, in the model's order.
func (t *tabulation) members(s *shape) []resultshape.Member {
	names := slices.Clone(s.Required)
	for _, name := range slices.Sorted(maps.Keys(s.Members)) {
		if !slices.Contains(s.Required, name) {
			names = append(names, name)
		}
	}
	members := make([]resultshape.Member, len(names))
	for i, name := range names {
		capital := strings.ToUpper(name[:1]) + name[1:]
		m := resultshape.Member{Name: capital, Shape: t.index(s.Members[name].Shape), Required: i < len(s.Required)}
		if sdk := awssdk.MemberName(capital); sdk != capital {
			m.SDK = sdk
		}
		members[i] = m
	}
	return members
}
