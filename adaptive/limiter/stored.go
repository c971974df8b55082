package limiter

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

type stored struct {
	Version   int     `json:"v"`
	Limit     float64 `json:"limit"`
	Decreased int64   `json:"decreased,omitempty"`
}

const storedVersion = 1

// MarshalJSON writes what the state has learned. Calls under way are left out: they are their process's own.
func (s State) MarshalJSON() ([]byte, error) {
	return json.Marshal(stored{storedVersion, s.limit, s.decreased})
}

// UnmarshalJSON reads what MarshalJSON wrote; anything that no State can be is an error and leaves s as it was.
func (s *State) UnmarshalJSON(text []byte) error {
	var in stored
	if err := json.Unmarshal(text, &in); err != nil {
		return fmt.Errorf("limiter: stored state: %w", err)
	}
	if in.Version != storedVersion {
		return fmt.Errorf("limiter: stored state has version %d; this program reads version %d", in.Version,
			storedVersion)
	}
	if !(in.Limit == 0 || in.Limit >= 1 && !math.IsInf(in.Limit, 0)) || in.Decreased < 0 {
		return errors.New("limiter: stored state is malformed")
	}
	*s = State{limit: in.Limit, decreased: in.Decreased}
	return nil
}
