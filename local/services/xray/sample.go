package xray

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	"stepback/aws"
	"stepback/local/services/documents"
)

// Traced describes the service that starts a trace, for matching by sampling rules.
type Traced struct {
	// Name, Type and ARN describe the service: the name of a function, AWS::Lambda::Function, and its ARN.
	Name, Type, ARN string
}

// sampler counts the traces that each rule has sampled.
type sampler struct {
	rules map[aws.Scope][]rule // as last read
	used  map[string]reservoir // by rule ARN
}

// reservoir counts the traces that a rule has recorded in the current second. When the rule's reservoir is used up,
// its fixed rate applies.
type reservoir struct {
	second int64
	taken  int
}

// Sample decides whether to record a new trace, by the first sampling rule that matches. In each second, it records
// as many traces as the rule's reservoir holds. To all others it applies the rule's fixed rate.
func (s *Service) Sample(scope aws.Scope, t Traced) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	rules, known := s.sampler.rules[scope]
	if !known {
		list, err := s.all(scope)
		if err != nil {
			return false // the store is closed
		}
		for _, r := range list {
			rules = append(rules, r.SamplingRule)
		}
		if s.sampler.rules == nil {
			s.sampler = sampler{map[aws.Scope][]rule{}, map[string]reservoir{}}
		}
		s.sampler.rules[scope] = rules
	}
	for i := range rules {
		r := &rules[i]
		if !r.fits(t) {
			continue
		}
		now := s.o.Now().Unix()
		used := s.sampler.used[r.RuleARN]
		if used.second != now {
			used = reservoir{second: now}
		}
		if used.taken < r.ReservoirSize {
			used.taken++
			s.sampler.used[r.RuleARN] = used
			return true
		}
		return rand.Float64() < r.FixedRate
	}
	return false
}

// fits reports whether a rule matches the start of a trace that did not begin with an HTTP request.
func (r *rule) fits(t Traced) bool {
	return len(r.Attributes) == 0 && aws.Matches(r.ServiceName, t.Name) && aws.Matches(r.ServiceType, t.Type) &&
		aws.Matches(r.ResourceARN, t.ARN) && aws.Matches(r.Host, "") && aws.Matches(r.HTTPMethod, "") && aws.Matches(r.URLPath, "")
}

// Put stores segments of an account and region, as PutTraceSegments does. Invalid documents are skipped.
func (s *Service) Put(scope aws.Scope, segments [][]byte) error {
	return s.o.Store.Write(func(b *documents.Batch) error {
		if err := s.prune(b, scope); err != nil && !errors.Is(err, errEnough) {
			return err
		}
		for _, text := range segments {
			var g segment
			if g.flaw(json.Unmarshal(text, &g), len(text)) == "" {
				b.Put(s.segments, prefix(scope)+g.TraceID+"/"+g.ID, text)
			}
		}
		return nil
	})
}

// Seconds returns t in the form that segments use: seconds since 1970.
func Seconds(t time.Time) float64 {
	return float64(t.UnixMicro()) / float64(time.Second/time.Microsecond)
}
