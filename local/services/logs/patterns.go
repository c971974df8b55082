package logs

import "sync"

// patterns are filter patterns that have been compiled. The zero value has none. It is safe for concurrent use.
type patterns struct {
	mu       sync.Mutex
	compiled map[string]func(message string) bool
}

// mostPatterns is how many patterns are remembered.
const mostPatterns = 1000

// find is parsePattern of a pattern that was asked for before, mostly.
func (p *patterns) find(text string) (func(message string) bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if matches := p.compiled[text]; matches != nil {
		return matches, nil
	}
	matches, err := parsePattern(text)
	if err != nil {
		return nil, err
	}
	if p.compiled == nil || len(p.compiled) == mostPatterns {
		p.compiled = map[string]func(string) bool{}
	}
	p.compiled[text] = matches
	return matches, nil
}
