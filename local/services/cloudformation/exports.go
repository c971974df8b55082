package cloudformation

import (
	"context"
	"slices"
	"sort"

	"stepback/aws"
)

// export finds an export by its name. The caller holds mu.
func (s *Service) export(scope aws.Scope, name string) (value string, by *stack, ok bool) {
	for _, st := range s.stacks {
		if st.scope() != scope || st.gone() {
			continue
		}
		for _, o := range st.Outputs {
			if o.Export == name && name != "" {
				return o.Value, st, true
			}
		}
	}
	return "", nil, false
}

// importer returns the name of a stack that imports an export of another stack; empty if there is none. The caller
// holds mu.
func (s *Service) importer(of *stack, name string) string {
	if name == "" {
		return ""
	}
	for _, st := range s.all(of.scope()) {
		if st != of && !st.gone() && slices.Contains(st.Imports, name) {
			return st.Name
		}
	}
	return ""
}

// checkExports rejects exports that another stack already has, and changes of exports that another stack imports. The
// caller holds mu.
func (s *Service) checkExports(st *stack, now []output) error {
	values := map[string]string{}
	for _, o := range now {
		if o.Export == "" {
			continue
		}
		if _, twice := values[o.Export]; twice {
			return invalid("Output names must be unique: the export %s is there twice", o.Export)
		}
		values[o.Export] = o.Value
		if _, by, ok := s.export(st.scope(), o.Export); ok && by != st {
			return invalid("Export with name %s is already exported by stack %s. Rename or remove the export.", o.Export, by.Name)
		}
	}
	for _, o := range st.Outputs {
		value, still := values[o.Export]
		if user := s.importer(st, o.Export); user != "" {
			if !still {
				return invalid("Cannot delete export %s as it is in use by %s.", o.Export, user)
			}
			if value != o.Value {
				return invalid("Cannot update export %s as it is in use by %s.", o.Export, user)
			}
		}
	}
	return nil
}

type exported struct {
	Stack string `json:"ExportingStackId"`
	Name  string
	Value string
}

type exportsAnswer struct {
	Exports []exported
	Next    string `json:"NextToken,omitempty"`
}

func (s *Service) listExports(_ context.Context, scope aws.Scope, in *oneStack) (*exportsAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []exported{}
	for _, st := range s.all(scope) {
		if st.gone() {
			continue
		}
		for _, o := range st.Outputs {
			if o.Export != "" {
				list = append(list, exported{st.ID, o.Export, o.Value})
			}
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	page, next, err := pageOf(list, in.Token, stacksPage)
	return &exportsAnswer{page, next}, err
}

type importsAnswer struct {
	Imports []string
	Next    string `json:"NextToken,omitempty"`
}

func (s *Service) listImports(_ context.Context, scope aws.Scope, in *struct {
	Name  string `json:"ExportName"`
	Token string `json:"NextToken"`
}) (*importsAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []string{}
	for _, st := range s.all(scope) {
		if !st.gone() && slices.Contains(st.Imports, in.Name) {
			list = append(list, st.Name)
		}
	}
	if len(list) == 0 {
		return nil, invalid("Export '%s' is not imported by any stack.", in.Name)
	}
	slices.Sort(list)
	page, next, err := pageOf(list, in.Token, stacksPage)
	return &importsAnswer{page, next}, err
}
