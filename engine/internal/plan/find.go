package plan

// Find returns the first state with this name in the scope or a nested one, or nil.
func (g *Graph) Find(name string) *State {
	for _, s := range g.States {
		if s.Name == name {
			return s
		}
		inner := s.Branches
		if s.Map != nil {
			inner = []*Graph{s.Map.Processor}
		}
		for _, b := range inner {
			if found := b.Find(name); found != nil {
				return found
			}
		}
	}
	return nil
}
