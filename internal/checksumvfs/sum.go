package checksumvfs

import "encoding/binary"

// reserved is the number of bytes at the end of a page that hold its checksum.
const reserved = 8

// add continues a checksum of SQLite with data, whose length is a multiple of 8: pairs of words are summed up
// crosswise. It is that of the checksum VFS, and that of the frames of a write-ahead log.
func add(s0, s1 uint32, data []byte, order binary.ByteOrder) (uint32, uint32) {
	if order == binary.ByteOrder(binary.BigEndian) {
		for ; len(data) >= 8; data = data[8:] {
			s0 += binary.BigEndian.Uint32(data) + s1
			s1 += binary.BigEndian.Uint32(data[4:]) + s0
		}
		return s0, s1
	}
	for ; len(data) >= 8; data = data[8:] {
		pair := binary.LittleEndian.Uint64(data)
		s0 += uint32(pair) + s1
		s1 += uint32(pair>>32) + s0
	}
	return s0, s1
}

// seal writes the checksum of a page into its last 8 bytes.
func seal(page []byte) {
	end := len(page) - reserved
	s0, s1 := add(0, 0, page[:end], binary.LittleEndian)
	binary.LittleEndian.PutUint32(page[end:], s0)
	binary.LittleEndian.PutUint32(page[end+4:], s1)
}

// intact reports whether the last 8 bytes of a page are its checksum.
func intact(page []byte) bool {
	end := len(page) - reserved
	s0, s1 := add(0, 0, page[:end], binary.LittleEndian)
	return binary.LittleEndian.Uint32(page[end:]) == s0 && binary.LittleEndian.Uint32(page[end+4:]) == s1
}

// Bytes of a database's header, the first 100 bytes of page 1.
const (
	headerSize   = 100
	magic        = "SQLite format 3\x00"
	pageSizeAt   = 16
	reservedAt   = 20
	firstMaxPage = 65536
)

// header returns the page size of a database, in bytes, and whether its pages have checksums. ok is false if b does
// not begin with a header.
func header(b []byte) (size int, sums, ok bool) {
	if len(b) < headerSize || string(b[:len(magic)]) != magic {
		return 0, false, false
	}
	if size = int(binary.BigEndian.Uint16(b[pageSizeAt:])); size == 1 {
		size = firstMaxPage
	}
	if size < 512 || size&(size-1) != 0 {
		return 0, false, false
	}
	return size, b[reservedAt] == reserved, true
}
