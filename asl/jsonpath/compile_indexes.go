package jsonpath

import (
	"strconv"
	"strings"
)

// indexes parses [0], [0,2] or a slice at the cursor. It returns false if the bracket contains anything else.
func (p *parser) indexes() (bool, error) {
	end := strings.IndexByte(p.s[p.i:], ']')
	if end < 0 {
		return false, nil
	}
	text := strings.TrimSpace(p.s[p.i+1 : p.i+end])
	if strings.Trim(text, "0123456789,-: ") != "" {
		return false, nil
	}
	read := p.indexList
	if strings.Contains(text, ":") {
		read = p.slice
	}
	s, err := read(text)
	if err != nil {
		return false, err
	}
	p.list = append(p.list, s)
	p.i += end + 1
	return true, nil
}

func (p *parser) indexList(text string) (step, error) {
	var s indexStep
	for part := range strings.SplitSeq(strings.TrimRight(text, ", "), ",") {
		part = strings.Trim(part, " ")
		index, err := strconv.ParseInt(part, 10, 32)
		if err != nil {
			return nil, p.fail(p.i+1, "Failed to parse token in ArrayIndexOperation: %s", part)
		}
		s.indexes = append(s.indexes, int(index))
	}
	return &s, nil
}

func (p *parser) slice(text string) (step, error) {
	failed := p.fail(p.i+1, "Failed to parse SliceOperation: %s", text)
	parts := strings.Split(text, ":")
	var s sliceStep
	for i, bound := range []*int{&s.from, &s.to} {
		if i >= len(parts) || parts[i] == "" {
			continue
		}
		n, err := strconv.ParseInt(parts[i], 10, 32)
		if err != nil {
			return nil, failed
		}
		*bound = int(n)
		if i == 0 {
			s.hasFrom = true
		} else {
			s.hasTo = true
		}
	}
	if !s.hasFrom && !s.hasTo {
		return nil, failed
	}
	return &s, nil
}
