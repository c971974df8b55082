package sealedjson

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"strconv"
	"strings"
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

// The seal is the last member of a JSON object: ,"sealed":"CHECKSUM-GENERATION"}, both in hexadecimal.
const (
	sealName         = `"sealed":"`
	sumDigits        = 8
	generationDigits = 16
	sealLength       = len(sealName) + sumDigits + 1 + generationDigits + 2
)

// appendSeal appends the seal with a checksum and a generation. It is written without package fmt, which takes most of
// the time of storing and reading a small file.
func appendSeal(dst []byte, sum uint32, generation uint64) []byte {
	dst = append(appendHex(append(dst, sealName...), uint64(sum), sumDigits), '-')
	return append(appendHex(dst, generation, generationDigits), `"}`...)
}

// appendHex appends the last digits of a number in hexadecimal.
func appendHex(dst []byte, n uint64, digits int) []byte {
	var all [generationDigits]byte
	text := hex.AppendEncode(all[:0], binary.BigEndian.AppendUint64(nil, n))
	return append(dst, text[len(text)-digits:]...)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Seal returns a JSON object with a seal as its last member.
func Seal(object []byte, generation uint64) []byte {
	object = bytes.TrimRight(object, " \n\t\r")
	sealed := append([]byte(nil), object[:len(object)-1]...)
	if !bytes.HasSuffix(bytes.TrimRight(sealed, " \n\t\r"), []byte("{")) {
		sealed = append(sealed, ',')
	}
	return appendSeal(sealed, sealSum(sealed, generation), generation)
}

func sealSum(text []byte, generation uint64) uint32 {
	return crc32.Update(crc32.Checksum(text, castagnoli), castagnoli, appendHex(nil, generation, generationDigits))
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
	seal, err := string(text[at:]), errors.New("its seal cannot be read")
	if len(seal) != sealLength {
		return nil, 0, true, err
	}
	sumText, generationText, _ := strings.Cut(strings.TrimSuffix(seal[len(sealName):], `"}`), "-")
	sum, e := strconv.ParseUint(sumText, 16, 32)
	if e != nil {
		return nil, 0, true, err
	}
	if generation, e = strconv.ParseUint(generationText, 16, 64); e != nil {
		return nil, 0, true, err
	}
	if found := sealSum(text[:at], generation); seal != string(appendSeal(nil, found, generation)) {
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
