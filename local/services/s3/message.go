package s3

import (
	"bytes"
	"io"
	"net/http"

	"stepback/aws"
)

// maxMessage is the maximum size of a request's XML, in bytes. Ten thousand parts with their checksums, or a thousand
// keys of 1,024 characters with every character escaped, are smaller.
const maxMessage = 8 << 20

// boundMessage reads the body of a request whose body is XML instead of an object. It rejects a body longer than
// maxMessage, because gofakes3 would read it into memory whatever its length.
func boundMessage(r *http.Request) *aws.Error {
	if r.Method != http.MethodPost && (r.Method != http.MethodPut || !r.URL.Query().Has("versioning")) {
		return nil
	}
	message, err := io.ReadAll(io.LimitReader(r.Body, maxMessage+1))
	switch {
	case err != nil:
		return cutOff(err)
	case len(message) > maxMessage:
		return &aws.Error{Code: "MaxMessageLengthExceeded", Status: http.StatusBadRequest,
			Message: "Your request was too big."}
	}
	r.Body = io.NopCloser(bytes.NewReader(message))
	return nil
}
