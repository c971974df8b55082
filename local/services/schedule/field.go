package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

var (
	monthNames = []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
	dayNames   = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}
)

// span is the range of numbers in a field. names holds names for the numbers; the first is the name of the number
// least.
type span struct {
	field       string
	least, most int
	names       []string
}

// read adds the numbers of a field, which consists of parts separated by commas.
func (s span) read(text string, add func(int)) error {
	for part := range strings.SplitSeq(text, ",") {
		if err := s.part(part, add); err != nil {
			return err
		}
	}
	return nil
}

// part parses *, n or n-m, optionally with a step after a slash.
func (s span) part(text string, add func(int)) error {
	bounds, step, stepped := strings.Cut(text, "/")
	first, last, every := s.least, s.most, 1
	var err error
	if stepped {
		if every, err = strconv.Atoi(step); err != nil || every < 1 || every > s.most {
			return fmt.Errorf("%s: %q is not a step from 1 to %d", s.field, step, s.most)
		}
	}
	if bounds != "*" {
		low, high, ranged := strings.Cut(bounds, "-")
		if first, err = s.number(low); err != nil {
			return err
		}
		switch {
		case ranged:
			if last, err = s.number(high); err != nil {
				return err
			}
		case !stepped:
			last = first
		}
	}
	if first > last {
		return fmt.Errorf("%s: %s ends before it begins", s.field, text)
	}
	for n := first; n <= last; n += every {
		add(n)
	}
	return nil
}

func (s span) number(text string) (int, error) {
	if i := slices.Index(s.names, text); i >= 0 {
		return s.least + i, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || text[0] == '+' || n < s.least || n > s.most {
		return 0, fmt.Errorf("%s: %q is not from %d to %d", s.field, text, s.least, s.most)
	}
	return n, nil
}
