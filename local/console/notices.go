package console

import (
	"strconv"
	"sync"
)

// notices holds messages that a page shows once after an action.
type notices struct {
	mu    sync.Mutex
	next  int
	texts map[string]string
}

// maxNotices limits the number of unread notices.
const maxNotices = 100

// keep stores a text and returns the key by which the next page finds it.
func (n *notices) keep(text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.texts == nil || len(n.texts) >= maxNotices {
		n.texts = map[string]string{}
	}
	n.next++
	id := strconv.Itoa(n.next)
	n.texts[id] = text
	return id
}

func (n *notices) take(id string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	text := n.texts[id]
	delete(n.texts, id)
	return text
}
