package logs

import "sync"

// patterns caches compiled filter patterns. The zero value is empty and ready to use. It is safe for concurrent use.
type patterns struct {
	mu       sync.Mutex
	compiled map[string]func(message string) bool
}

// mostPatterns is the maximum number of cached patterns.
const mostPatterns = 1000

// find returns the compiled pattern of text, from the cache if possible.
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
