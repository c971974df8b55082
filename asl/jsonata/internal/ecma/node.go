package ecma

// op is the kind of a node.
type op uint8

const (
	opEmpty       op = iota
	opChar           // one code unit
	opAny            // any code unit but a line terminator
	opSet            // a class of code units
	opSeq            // all children in turn
	opAlt            // the first child with which a match succeeds
	opGroup          // capturing group
	opRepeat         // child min to max times
	opBackref        // the text captured by a group
	opStart          // ^
	opEnd            // $
	opBoundary       // \b
	opNotBoundary    // \B
	opLookahead      // (?=) and (?!)
	opLookbehind     // (?<=) and (?<!)
)

type node struct {
	op       op
	unit     uint16
	negated  bool
	lazy     bool
	min, max int
	group    int // of opGroup and opBackref
	name     string
	// firstGroup and lastGroup bound the numbers of the capturing groups inside a repeated child. These groups are
	// cleared before each iteration.
	firstGroup, lastGroup int
	set                   *set
	children              []*node
}

const unbounded = int(^uint(0) >> 1)

// set is a class of code units, as inclusive ranges.
type set struct {
	ranges  [][2]uint16
	negated bool
}

func (s *set) add(lo, hi uint16) { s.ranges = append(s.ranges, [2]uint16{lo, hi}) }

func (s *set) addAll(other *set) {
	if !other.negated {
		s.ranges = append(s.ranges, other.ranges...)
		return
	}
	// Add the gaps between the sorted ranges.
	next := 0
	for _, r := range other.ranges {
		if int(r[0]) > next {
			s.add(uint16(next), r[0]-1)
		}
		next = int(r[1]) + 1
	}
	if next <= 0xFFFF {
		s.add(uint16(next), 0xFFFF)
	}
}

func (s *set) has(u uint16) bool {
	for _, r := range s.ranges {
		if u >= r[0] && u <= r[1] {
			return true
		}
	}
	return false
}

// The classes \d, \w and \s; their ranges are sorted.
var (
	digits = &set{ranges: [][2]uint16{{'0', '9'}}}
	words  = &set{ranges: [][2]uint16{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}}
	spaces = &set{ranges: [][2]uint16{
		{'\t', '\r'}, {' ', ' '}, {0xA0, 0xA0}, {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
		{0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF},
	}}
)

// shorthand returns the class of \d, \D, \w, \W, \s and \S; nil for other letters.
func shorthand(letter uint16) *set {
	var s *set
	switch letter {
	case 'd', 'D':
		s = digits
	case 'w', 'W':
		s = words
	case 's', 'S':
		s = spaces
	default:
		return nil
	}
	if letter < 'a' {
		return &set{ranges: s.ranges, negated: true}
	}
	return s
}

func isLineTerminator(u uint16) bool { return u == '\n' || u == '\r' || u == 0x2028 || u == 0x2029 }
