package plan

import (
	"strings"

	"stepback/asl"
	"stepback/jsonvalue"
)

// DirectMember is a member of an ItemSelector that is the item's index, or the item.
type DirectMember struct {
	Name  string
	Index bool // the index; else the item
}

// maxDirect bounds how many times an item is written into one input.
const maxDirect = 4

// direct is an ItemSelector whose members are all the index or the item, as {"row.$": "$$.Map.Item.Index", "record.$":
// "$$.Map.Item.Value"}: its result can be written without evaluating anything. It is nil for every other.
func direct(s *asl.State) []DirectMember {
	selector := s.Map.ItemSelector
	if selector == nil || s.QueryLanguage != asl.JSONPath || selector.Kind() != jsonvalue.Object ||
		selector.Len() > maxDirect {
		return nil
	}
	var members []DirectMember
	for i, key := range selector.Keys() {
		name, path := strings.CutSuffix(key, ".$")
		value := selector.At(i)
		if !path || value.Kind() != jsonvalue.String {
			return nil
		}
		switch value.Text() {
		case "$$.Map.Item.Index":
			members = append(members, DirectMember{name, true})
		case "$$.Map.Item.Value":
			members = append(members, DirectMember{name, false})
		default:
			return nil
		}
	}
	return members
}
