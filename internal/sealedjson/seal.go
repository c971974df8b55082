package sealedjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
)

// DamagedError reports a file that differs from what was written.
type DamagedError struct {
	Path string
	Why  string
}

// Error implements error.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged: %s; restore it from a backup, or accept the loss with stepback data repair", e.Path, e.Why)
}

// The seal is the last member of a JSON object: ,"sealed":"CHECKSUM-GENERATION"}
const (
	sealName   = `"sealed":"`
	sealFormat = sealName + `%08x-%016x"}`
	sealLength = len(sealName) + 8 + 1 + 16 + 2
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

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
	return crc32.Update(crc32.Checksum(text, castagnoli), castagnoli, fmt.Appendf(nil, "%016x", generation))
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

// ReadFile reads a sealed file into value, which encoding/json fills. The error is a *DamagedError if the file differs
// from what was written. A file without a seal, of an earlier version, may have no member that value does not know:
// otherwise a damaged seal would count as none.
func ReadFile(path string, value any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	object, _, sealed, err := Unseal(text)
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(object))
		if !sealed {
			d.DisallowUnknownFields()
		}
		if err = d.Decode(value); err == nil && d.More() {
			err = errors.New("something follows its object")
		}
	}
	if err != nil {
		return &DamagedError{Path: path, Why: err.Error()}
	}
	return nil
}
