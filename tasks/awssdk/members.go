package awssdk

import (
	"strings"
	"sync"

	"stepback/aws/model"
	"stepback/tasks/awssdk/responses"
)

// members finds the members of structures by their names in parameters, ignoring case.
type members struct{ shapes sync.Map } // *model.Shape to map[string]*model.Member

var known members

// find returns the member with a name in parameters, or nil if there is none. Names must start with a capital letter,
// as Step Functions requires.
func (m *members) find(s *model.Shape, name string) *model.Member {
	if name == "" || name[0] < 'A' || name[0] > 'Z' {
		return nil
	}
	if exact := s.Member(name); exact != nil {
		return exact
	}
	return m.of(s)[strings.ToLower(name)]
}

func (m *members) of(s *model.Shape) map[string]*model.Member {
	if names, ok := m.shapes.Load(s); ok {
		return names.(map[string]*model.Member)
	}
	names := make(map[string]*model.Member, len(s.Members))
	for _, member := range s.Members {
		names[strings.ToLower(responses.SDK.Member(member))] = member
	}
	for _, member := range s.Members {
		names[strings.ToLower(member.Name)] = member
	}
	m.shapes.Store(s, names)
	return names
}
