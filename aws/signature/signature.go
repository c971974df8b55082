// Package signature verifies the signatures of requests to S3: signature version 4 with one region, and version 2, in
// the headers, in the query of a presigned URL, or in the fields of an HTML form.
//
// It compares signatures only. Expiry, clock skew and the hash of the body are the caller's concern.
package signature

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // signature version 2 is defined with it
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// unsignedPayload stands for the hash of a body that is not signed.
const unsignedPayload = "UNSIGNED-PAYLOAD"

// Matches reports whether the signature of a request was made with a secret access key. It is false if a part of the
// signature is missing.
func Matches(r *http.Request, secret string) bool {
	query := r.URL.Query()
	header := r.Header.Get("Authorization")
	switch {
	case strings.HasPrefix(header, "AWS4-HMAC-SHA256"):
		fields := map[string]string{}
		for field := range strings.SplitSeq(strings.TrimPrefix(header, "AWS4-HMAC-SHA256"), ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
			fields[name] = value
		}
		date := r.Header.Get("X-Amz-Date")
		return fourth(r, secret, date, fields["Credential"], fields["SignedHeaders"], fields["Signature"])
	case strings.HasPrefix(header, "AWS "):
		_, given, _ := strings.Cut(header, ":")
		date := r.Header.Get("Date")
		if r.Header.Get("X-Amz-Date") != "" {
			date = ""
		}
		return secondMatches(r, secret, given, query, date)
	case query.Has("X-Amz-Signature"):
		return fourth(
			r,
			secret,
			query.Get("X-Amz-Date"),
			query.Get("X-Amz-Credential"),
			query.Get("X-Amz-SignedHeaders"),
			query.Get("X-Amz-Signature"),
		)
	case query.Has("Signature"):
		return secondMatches(r, secret, query.Get("Signature"), query, query.Get("Expires"))
	}
	return false
}

// MatchesForm reports whether the signature of an HTML form's policy was made with a secret access key. Names of fields
// are in lower case.
func MatchesForm(fields map[string]string, secret string) bool {
	if given, ok := fields["x-amz-signature"]; ok {
		key, ok := derivedKey(secret, fields["x-amz-credential"])
		return ok && equal(given, hex.EncodeToString(sum(key, fields["policy"])))
	}
	return equal(fields["signature"], second(secret, fields["policy"]))
}

func equal(given, made string) bool { return hmac.Equal([]byte(given), []byte(made)) }

func sum(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte(text)) // hashes do not fail
	return h.Sum(nil)
}

// derivedKey returns the signing key of a credential: KEY/DATE/REGION/SERVICE/aws4_request.
func derivedKey(secret, credential string) (key []byte, ok bool) {
	parts := strings.Split(credential, "/")
	const length = 5
	if len(parts) != length {
		return nil, false
	}
	key = []byte("AWS4" + secret)
	for _, part := range parts[1:] {
		key = sum(key, part)
	}
	return key, true
}

// fourth reports whether a signature of version 4 is the one of a request.
func fourth(r *http.Request, secret, date, credential, signed, given string) bool {
	key, ok := derivedKey(secret, credential)
	if !ok || signed == "" {
		return false
	}
	hash := r.Header.Get("X-Amz-Content-Sha256")
	if hash == "" {
		hash = unsignedPayload
	}
	var headers strings.Builder
	for name := range strings.SplitSeq(signed, ";") {
		headers.WriteString(name + ":" + headerText(r, name) + "\n")
	}
	canonical := sha256.Sum256([]byte(strings.Join([]string{r.Method, escaped(r.URL.Path, true),
		canonicalQuery(r.URL.Query()),
		headers.String(), signed, hash}, "\n")))
	_, scope, _ := strings.Cut(credential, "/")
	text := strings.Join([]string{"AWS4-HMAC-SHA256", date, scope, hex.EncodeToString(canonical[:])}, "\n")
	return equal(given, hex.EncodeToString(sum(key, text)))
}

// headerText returns the values of a header as signatures contain them.
func headerText(r *http.Request, name string) string {
	switch name {
	case "host":
		return r.Host
	case "content-length":
		return strconv.FormatInt(r.ContentLength, 10)
	case "transfer-encoding":
		return strings.Join(r.TransferEncoding, ",")
	}
	values := slices.Clone(r.Header.Values(name))
	for i, v := range values {
		values[i] = strings.Join(strings.Fields(v), " ")
	}
	return strings.Join(values, ",")
}

// canonicalQuery returns the query parameters, sorted, without the signature itself.
func canonicalQuery(query url.Values) string {
	var pairs []string
	for name, values := range query {
		if name == "X-Amz-Signature" {
			continue
		}
		for _, value := range values {
			pairs = append(pairs, escaped(name, false)+"="+escaped(value, false))
		}
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "&")
}

// escaped encodes all bytes but unreserved ones as %XX. path keeps slashes.
func escaped(text string, path bool) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z',
			c >= 'A' && c <= 'Z',
			c >= '0' && c <= '9',
			strings.IndexByte("-._~", c) >= 0,
			path && c == '/':
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}

// secondMatches reports whether a signature of version 2 is the one of a request. Some SDKs sign the path of a bucket
// with a slash at its end, also if the request has none.
func secondMatches(r *http.Request, secret, given string, query url.Values, date string) bool {
	path := r.URL.EscapedPath()
	return equal(given, second(secret, textOfSecond(r, query, date, path))) ||
		strings.Count(path, "/") == 1 && equal(given, second(secret, textOfSecond(r, query, date, path+"/")))
}

// second returns the signature of version 2 of a text.
func second(secret, text string) string {
	h := hmac.New(sha1.New, []byte(secret))
	_, _ = h.Write([]byte(text)) // hashes do not fail
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// signedParameters lists the query parameters that signature version 2 covers, sorted. They are those of the SDKs,
// which stopped adding to them.
var signedParameters = []string{
	"accelerate",
	"acl",
	"analytics",
	"cors",
	"defaultObjectAcl",
	"delete",
	"inventory",
	"lifecycle",
	"location",
	"logging",
	"metrics",
	"notification",
	"object-lock",
	"partNumber",
	"policy",
	"replication",
	"requestPayment",
	"response-cache-control",
	"response-content-disposition",
	"response-content-encoding",
	"response-content-language",
	"response-content-type",
	"response-expires",
	"restore",
	"select",
	"select-type",
	"storageClass",
	"tagging",
	"torrent",
	"uploadId",
	"uploads",
	"versionId",
	"versioning",
	"versions",
	"website",
}

// textOfSecond returns the text that signature version 2 signs. date is the request's date, or the time at which a
// presigned URL expires; resource is the path as it is signed.
func textOfSecond(r *http.Request, query url.Values, date, resource string) string {
	amazon := map[string][]string{}
	collect := func(name string, values []string) {
		if name = strings.ToLower(name); strings.HasPrefix(name, "x-amz-") {
			amazon[name] = append(amazon[name], values...)
		}
	}
	for name, values := range r.Header {
		collect(name, values)
	}
	if query.Has("Signature") {
		for name, values := range query {
			collect(name, values)
		}
	}
	lines := []string{r.Method, r.Header.Get("Content-Md5"), r.Header.Get("Content-Type"), date}
	names := make([]string, 0, len(amazon))
	for name := range amazon {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		lines = append(lines, name+":"+strings.Join(amazon[name], ","))
	}
	var signed []string
	for _, name := range signedParameters {
		if value := query.Get(name); value != "" {
			signed = append(signed, name+"="+value)
		} else if query.Has(name) {
			signed = append(signed, name)
		}
	}
	if len(signed) > 0 {
		resource += "?" + strings.Join(signed, "&")
	}
	return strings.Join(append(lines, resource), "\n")
}
