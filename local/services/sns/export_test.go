package sns

import (
	"sync"
	"time"
)

var testKey = sync.OnceValues(func() ([]byte, error) { return makeSigning(time.Unix(0, 0)) })

// UseTestKey sets a signing key that all tests share, because generating one takes a while.
func UseTestKey(s *Service) {
	text, err := testKey()
	if err == nil {
		s.signer.mu.Lock()
		err = s.signer.use(text)
		s.signer.mu.Unlock()
	}
	if err != nil {
		panic(err)
	}
}
