package plan

import (
	"strings"

	"stepback/asl"
	"stepback/jsonvalue"
)

// DirectMember is a member of an ItemSelector whose value is the item's index, or the item.
type DirectMember struct {
	Name  string
	Index bool // true for the index, false for the item
}

// maxDirect limits how many times an item is written into one input.
const maxDirect = 4

// direct returns the members of an ItemSelector whose values are all the index or the item, such as {"row.$":
// "$$.Map.Item.Index", "record.$": "$$.Map.Item.Value"}; its result can be written without evaluating anything. It
// returns nil for any other ItemSelector.
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
