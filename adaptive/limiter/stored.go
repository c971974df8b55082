package limiter

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
)

type stored struct {
	Version   int     `json:"v"`
	Limit     float64 `json:"limit"`
	Decreased int64   `json:"decreased,omitempty"`
	Asked     float64 `json:"asked,omitempty"`
	Refused   float64 `json:"refused,omitempty"`
	Counted   int64   `json:"counted,omitempty"`
}

const storedVersion = 1

// MarshalJSON encodes what the state has learned. Calls under way are left out, because they belong to their own
// process.
func (s State) MarshalJSON() ([]byte, error) {
	return json.Marshal(stored{storedVersion, s.limit, s.decreased, s.asked, s.refused, s.counted})
}

// learned returns the state as a new limiter starts with it: without calls under way, and the zero State if the last
// call was requested more than StateAge before now, or after it.
func (s State) learned(now time.Time) State {
	if age := now.Sub(time.Unix(0, s.counted)); s.counted == 0 || age > StateAge || age < 0 {
		return State{}
	}
	return State{limit: s.limit, decreased: s.decreased, typical: s.typical, asked: s.asked, refused: s.refused,
		counted: s.counted}
}

// UnmarshalJSON decodes the output of MarshalJSON. It returns an error for anything that is not a possible State, and
// leaves s unchanged then.
func (s *State) UnmarshalJSON(text []byte) error {
	var in stored
	if err := json.Unmarshal(text, &in); err != nil {
		return fmt.Errorf("limiter: stored state: %w", err)
	}
	if in.Version != storedVersion {
		return fmt.Errorf("limiter: stored state has version %d; this program reads version %d", in.Version,
			storedVersion)
	}
	if !(in.Limit == 0 || in.Limit >= 1 && !math.IsInf(in.Limit, 0)) || in.Decreased < 0 ||
		!(in.Refused >= 0 && in.Refused <= in.Asked && !math.IsInf(in.Asked, 0)) || in.Counted < 0 {
		return errors.New("limiter: stored state is malformed")
	}
	*s = State{limit: in.Limit, decreased: in.Decreased, asked: in.Asked, refused: in.Refused, counted: in.Counted}
	return nil
}
