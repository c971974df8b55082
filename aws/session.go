package aws

import (
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// sessionPrefix begins the session access keys that this project issues. AWS's own begin with ASIA.
const sessionPrefix = "LSIA"

// accessKeyEncoding is the encoding of access keys: base32 letters and digits without padding.
var accessKeyEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// SessionKey returns an access key for a session in an account, as this project's STS issues it: 20 letters and
// digits that encode the account, so that requests signed with the key belong to that account. random distinguishes
// sessions.
func SessionKey(account string, random uint32) string {
	n, _ := strconv.ParseUint(account, 10, 64)                        // 0 if it is not an account
	b := binary.BigEndian.AppendUint64(nil, n<<16|uint64(random)>>16) // twelve digits need 40 bits
	b = binary.BigEndian.AppendUint16(b, uint16(random))
	return sessionPrefix + accessKeyEncoding.EncodeToString(b)
}

// AccountOfSession returns the account of an access key created by SessionKey; ok is false for other keys.
func AccountOfSession(key string) (account string, ok bool) {
	text, ok := strings.CutPrefix(key, sessionPrefix)
	if !ok {
		return "", false
	}
	b, err := accessKeyEncoding.DecodeString(text)
	if err != nil || len(b) != 10 {
		return "", false
	}
	n := binary.BigEndian.Uint64(b) >> 16
	const most = 999_999_999_999
	return fmt.Sprintf("%012d", n), n <= most
}
