package aws

import (
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// sessionPrefix begins the access keys of sessions that are not AWS's; AWS's own begin with ASIA.
const sessionPrefix = "LSIA"

// noPadding are the letters and digits of access keys.
var noPadding = base32.StdEncoding.WithPadding(base32.NoPadding)

// SessionKey makes the access key of a session in an account, as STS here gives them: 20 letters and digits that tell
// the account, so that whoever signs with them is in it. random tells sessions apart.
func SessionKey(account string, random uint32) string {
	n, _ := strconv.ParseUint(account, 10, 64)                        // 0 for what is no account
	b := binary.BigEndian.AppendUint64(nil, n<<16|uint64(random)>>16) // twelve digits take 40 bits
	b = binary.BigEndian.AppendUint16(b, uint16(random))
	return sessionPrefix + noPadding.EncodeToString(b)
}

// AccountOfSession is the account of an access key that SessionKey has made; it reports false for others.
func AccountOfSession(key string) (account string, ok bool) {
	text, ok := strings.CutPrefix(key, sessionPrefix)
	if !ok {
		return "", false
	}
	b, err := noPadding.DecodeString(text)
	if err != nil || len(b) != 10 {
		return "", false
	}
	n := binary.BigEndian.Uint64(b) >> 16
	const most = 999_999_999_999
	return fmt.Sprintf("%012d", n), n <= most
}
