package cloudformation

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"stepback/aws"
	"stepback/engine/clock"
)

// expect returns a bell that rings when a response for a token arrives.
func (s *Service) expect(token string) *clock.Bell {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.opts.Clock.NewBell()
	s.waiting[token] = b
	return b
}

func (s *Service) forgetExpected(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting, token)
}

// answers returns the responses received for a token.
func (s *Service) answers(token string) (all []response, err error) {
	err = s.table.Scan(responseKey(token, ""), func(_ string, value []byte) error {
		var a response
		if err := json.Unmarshal(value, &a); err != nil {
			return err
		}
		all = append(all, a)
		return nil
	})
	return all, err
}

func (s *Service) answer(token string) (response, bool, error) {
	all, err := s.answers(token)
	if err != nil || len(all) == 0 {
		return response{}, false, err
	}
	return all[0], true, nil
}

// Responses handles the responses of custom resources and the signals of wait conditions, at ResponsePath.
func (s *Service) Responses() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.URL.Path, ResponsePath)
		if r.Method != http.MethodPut && r.Method != http.MethodPost {
			http.Error(w, "answers are PUT here", http.StatusMethodNotAllowed)
			return
		}
		if err := s.take(token, r.Body); err != nil {
			status := http.StatusBadRequest
			var e *aws.Error
			if errors.As(err, &e) {
				status = e.HTTPStatus()
			}
			http.Error(w, err.Error(), status)
			return
		}
		w.WriteHeader(http.StatusOK)
	})
}

func (s *Service) take(token string, body io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(body, 16*mostResponse))
	if err != nil {
		return err
	}
	if !s.expects(token) {
		return &aws.Error{Code: "NoSuchKey", Status: http.StatusNotFound, Message: "nobody waits for an answer with this token"}
	}
	var a response
	var raw struct {
		Data     any
		UniqueID string `json:"UniqueId"`
	}
	if err := json.Unmarshal(text, &a); err != nil {
		if e := json.Unmarshal(text, &raw); e != nil {
			a = response{Status: "FAILED", Reason: "the answer is not JSON: " + e.Error()}
		} else { // the data of a wait condition is a text
			a = response{UniqueID: raw.UniqueID, Data: map[string]any{"": raw.Data}}
			_ = json.Unmarshal(text, &struct{ Status, Reason *string }{&a.Status, &a.Reason})
		}
	}
	if len(text) > mostResponse && a.Status == "SUCCESS" {
		a = response{Status: "FAILED", Reason: "Response object is too long."}
	}
	one := "answer"
	if a.UniqueID != "" {
		one = a.UniqueID
	}
	if err := s.change(func(k *keeper) error {
		if _, there, err := s.table.Get(responseKey(token, one)); err != nil || there {
			return err // the first response counts
		}
		k.put(responseKey(token, one), a)
		return nil
	}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.waiting[token]; b != nil {
		b.Ring()
	}
	return nil
}

// expects reports whether a token belongs to a resource that may respond.
func (s *Service) expects(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.stacks {
		for _, r := range st.resources {
			if r.Token == token && token != "" {
				return true
			}
		}
	}
	return false
}
