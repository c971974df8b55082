package inventory

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
)

// The seal is the last member of a JSON object: ,"sealed":"CHECKSUM-GENERATION"}
const (
	sealName   = `"sealed":"`
	sealFormat = sealName + `%08x-%016x"}`
	sealLength = len(sealName) + 8 + 1 + 16 + 2
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum returns the checksum of a text, CRC-32C, given that of the text before it.
func Sum(before uint32, text []byte) uint32 { return crc32.Update(before, castagnoli, text) }

// Seal returns a JSON object with a seal as its last member.
func Seal(object []byte, generation uint64) []byte {
	object = bytes.TrimRight(object, " \n\t\r")
	sealed := append([]byte(nil), object[:len(object)-1]...)
	if !bytes.HasSuffix(bytes.TrimRight(sealed, " \n\t\r"), []byte("{")) {
		sealed = append(sealed, ',')
	}
	return fmt.Appendf(sealed, sealFormat, sealSum(sealed, generation), generation)
}

func sealSum(text []byte, generation uint64) uint32 {
	return Sum(Sum(0, text), fmt.Appendf(nil, "%016x", generation))
}

// Unseal returns the JSON object without its seal. sealed is false for a text without a seal, such as a file of an
// earlier version, which is returned unchanged. The error says in what the text differs from what was written.
func Unseal(text []byte) (object []byte, generation uint64, sealed bool, err error) {
	whole := text
	text = bytes.TrimRight(text, " \n\t\r")
	at := bytes.LastIndex(text, []byte(sealName))
	if at < 0 {
		text = whole
		return text, 0, false, nil
	}
	var sum uint32
	if _, err := fmt.Sscanf(string(text[at:]), sealFormat, &sum, &generation); err != nil ||
		len(text)-at != sealLength {
		return nil, 0, true, errors.New("its seal cannot be read")
	}
	if found := sealSum(text[:at], generation); string(text[at:]) != fmt.Sprintf(sealFormat, found, generation) {
		return nil, 0, true, fmt.Errorf("its checksum is %08x, not %08x", found, sum)
	}
	object = append(bytes.TrimSuffix(text[:at:at], []byte(",")), '}')
	return object, generation, true, nil
}
