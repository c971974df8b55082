package engine

import "fmt"

// newUUID formats 128 random bits as a version 4 UUID.
func newUUID(hi, lo uint64) string {
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x",
		hi>>32, hi>>16&0xFFFF, hi&0x0FFF, lo>>48&0x3FFF|0x8000, lo&0xFFFF_FFFF_FFFF)
}
