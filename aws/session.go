package aws

import (
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// sessionPrefix and userPrefix begin the access keys of sessions and of users that this project issues. AWS's own begin
// with ASIA and AKIA.
const (
	sessionPrefix = "LSIA"
	userPrefix    = "LKIA"
)

// accessKeyEncoding is the encoding of access keys: base32 letters and digits without padding.
var accessKeyEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// SessionKey returns an access key for a session in an account, as this project's STS issues it: 20 letters and
// digits that encode the account, so that requests signed with the key belong to that account. random distinguishes
// sessions.
func SessionKey(account string, random uint32) string {
	return accessKey(sessionPrefix, account, random)
}

// UserKey returns an access key for a user in an account, as this project's IAM issues it. It encodes the account, like
// SessionKey.
func UserKey(account string, random uint32) string { return accessKey(userPrefix, account, random) }

func accessKey(prefix, account string, random uint32) string {
	n, _ := strconv.ParseUint(account, 10, 64)                        // 0 if it is not an account
	b := binary.BigEndian.AppendUint64(nil, n<<16|uint64(random)>>16) // twelve digits need 40 bits
	b = binary.BigEndian.AppendUint16(b, uint16(random))
	return prefix + accessKeyEncoding.EncodeToString(b)
}

// AccountOfSession returns the account of an access key created by SessionKey; ok is false for other keys.
func AccountOfSession(key string) (account string, ok bool) { return accountOf(sessionPrefix, key) }

// AccountOfKey returns the account of an access key created by SessionKey or UserKey; ok is false for other keys.
func AccountOfKey(key string) (account string, ok bool) {
	if account, ok = AccountOfSession(key); ok {
		return account, true
	}
	return accountOf(userPrefix, key)
}

func accountOf(prefix, key string) (account string, ok bool) {
	text, ok := strings.CutPrefix(key, prefix)
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
