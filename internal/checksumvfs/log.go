package checksumvfs

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Sizes and places in a write-ahead log (https://www.sqlite.org/fileformat2.html#the_write_ahead_log). All numbers
// are big-endian; the lowest bit of the magic number tells the byte order in which checksums read the data.
const (
	logHeaderSize   = 32
	logMagic        = 0x377f0682
	frameHeaderSize = 24
)

// DamagedLogError reports a write-ahead log from which SQLite would drop transactions that were committed.
type DamagedLogError struct {
	Path  string
	Frame int   // the first frame, from 1, without its checksum; 0 for the log's header
	Valid int64 // length of what precedes it, in bytes
}

// Error names the file and the place.
func (e *DamagedLogError) Error() string {
	if e.Frame == 0 {
		return e.Path + " is damaged: its header does not have its checksum"
	}
	return fmt.Sprintf("%s is damaged: frame %d does not have its checksum, and transactions follow it", e.Path, e.Frame)
}

// CheckLog reads the write-ahead log of the database at path, and returns a *DamagedLogError if SQLite would drop
// committed transactions when it recovers the log. A log that is missing is no error, nor is one that other processes
// write meanwhile.
//
// A process that is killed leaves an unfinished transaction at the end of the log. It may have any content, so that a
// change of the log's last transaction is not told from it and not reported.
func CheckLog(path string) error {
	_, err := readLog(path)
	var damage *DamagedLogError
	if errors.As(err, &damage) {
		_, err = readLog(path) // a log that is written meanwhile looks damaged once
		var again *DamagedLogError
		if errors.As(err, &again) && *again != *damage {
			return nil
		}
	}
	return err
}

// readLog returns the pages that the committed transactions of a log have written.
func readLog(path string) (map[uint32]bool, error) {
	path += "-wal"
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var head [logHeaderSize]byte
	if n, err := io.ReadFull(f, head[:]); n == 0 || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil // a process was killed before the log had a frame
	} else if err != nil {
		return nil, err
	}
	l, ok := newLog(head[:])
	if !ok {
		info, err := f.Stat()
		if err == nil && info.Size() > logHeaderSize && head != [logHeaderSize]byte{} {
			err = &DamagedLogError{Path: path}
		}
		return nil, err
	}
	pages, err := l.read(bufio.NewReaderSize(f, 1<<20), path)
	if err == nil {
		return pages, nil
	}
	var now [logHeaderSize]byte
	if _, e := f.ReadAt(now[:], 0); e == nil && now != head {
		return nil, nil // another process has begun the log anew
	}
	return nil, err
}

// log is the state of reading a write-ahead log.
type log struct {
	order  binary.ByteOrder
	size   int // of a page
	salt   [8]byte
	s0, s1 uint32 // checksum of all that was read
}

func newLog(head []byte) (*log, bool) {
	word := func(i int) uint32 { return binary.BigEndian.Uint32(head[4*i:]) }
	l := &log{order: binary.LittleEndian, size: int(word(2))}
	if word(0)&1 == 1 {
		l.order = binary.BigEndian
	}
	copy(l.salt[:], head[16:])
	l.s0, l.s1 = add(0, 0, head[:24], l.order)
	return l, word(0)&^1 == logMagic && l.s0 == word(6) && l.s1 == word(7) && l.size >= 512 && l.size <= firstMaxPage &&
		l.size&(l.size-1) == 0
}

// read reads all frames. Frames of the log's earlier use, which have another salt, may follow the last one.
func (l *log) read(r io.Reader, path string) (map[uint32]bool, error) {
	pages, open := map[uint32]bool{}, []uint32{}
	frame := make([]byte, frameHeaderSize+l.size)
	invalid, committed := 0, false
	for i := 1; ; i++ {
		if _, err := io.ReadFull(r, frame); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return pages, nil
		} else if err != nil {
			return nil, err
		}
		same := [8]byte(frame[8:16]) == l.salt
		commits := binary.BigEndian.Uint32(frame[4:]) != 0
		if invalid == 0 && same && l.valid(frame) {
			if open = append(open, binary.BigEndian.Uint32(frame)); commits {
				for _, page := range open {
					pages[page] = true
				}
				open = open[:0]
			}
			continue
		}
		if invalid == 0 {
			invalid = i
		}
		// SQLite begins no transaction before it has completed the frames of the one before.
		if committed && same {
			return nil, &DamagedLogError{Path: path, Frame: invalid,
				Valid: logHeaderSize + int64(invalid-1)*int64(len(frame))}
		}
		committed = committed || same && commits
	}
}

// valid reports whether the next frame has the checksum of all that precedes it and of itself.
func (l *log) valid(frame []byte) bool {
	s0, s1 := add(l.s0, l.s1, frame[:8], l.order)
	s0, s1 = add(s0, s1, frame[frameHeaderSize:], l.order)
	if s0 != binary.BigEndian.Uint32(frame[16:]) || s1 != binary.BigEndian.Uint32(frame[20:]) {
		return false
	}
	l.s0, l.s1 = s0, s1
	return true
}
