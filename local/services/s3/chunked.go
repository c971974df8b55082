package s3

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// decodeChunked replaces an aws-chunked body (x-amz-content-sha256: STREAMING-…) with its content.
// Signatures are skipped; trailers are kept for their checksums.
func decodeChunked(r *http.Request) error {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return nil
	}
	length := r.Header.Get("X-Amz-Decoded-Content-Length")
	size, err := strconv.ParseInt(length, 10, 64)
	if err != nil || size < 0 {
		return fail("MissingContentLength", "A streamed body needs the header x-amz-decoded-content-length", nil)
	}
	r.Body = &chunkedBody{source: bufio.NewReaderSize(r.Body, 64<<10), closer: r.Body}
	r.ContentLength = size
	r.Header.Set("Content-Length", length)
	r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
	r.Header.Set("Content-Encoding", withoutChunked(r.Header.Get("Content-Encoding")))
	return nil
}

// withoutChunked returns the value of Content-Encoding without aws-chunked, which belongs to the transfer.
func withoutChunked(encodings string) string {
	if !strings.Contains(encodings, "aws-chunked") {
		return encodings
	}
	var kept []string
	for e := range strings.SplitSeq(encodings, ",") {
		if e = strings.TrimSpace(e); e != "" && e != "aws-chunked" {
			kept = append(kept, e)
		}
	}
	return strings.Join(kept, ",")
}

// chunkedBody decodes SIZE[;extension]\r\n DATA \r\n … 0[;extension]\r\n [trailer\r\n]… \r\n.
type chunkedBody struct {
	source  *bufio.Reader
	closer  io.Closer
	trailer http.Header // set at the end
	left    int64       // of the current chunk
	begun   bool
	done    bool
}

var errChunk = errors.New("malformed aws-chunked body")

// sentBody is a body as its client sends it. Errors are the client's, and not those of the storage.
type sentBody struct{ io.Reader }

// Read implements io.Reader. The error is io.EOF or an *aws.Error.
func (b sentBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == nil || err == io.EOF {
		return n, err
	}
	return n, cutOff(err)
}

func (c *chunkedBody) Close() error { return c.closer.Close() }

func (c *chunkedBody) Read(p []byte) (int, error) {
	if c.done {
		return 0, io.EOF
	}
	if c.left == 0 {
		if err := c.nextChunk(); err != nil || c.done {
			return 0, orEOF(err)
		}
	}
	if int64(len(p)) > c.left {
		p = p[:c.left]
	}
	n, err := c.source.Read(p)
	c.left -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func orEOF(err error) error {
	if err == nil {
		return io.EOF
	}
	return err
}

func (c *chunkedBody) nextChunk() error {
	if c.begun {
		line, err := c.line()
		if err != nil {
			return err
		}
		if line != "" {
			return errChunk
		}
	}
	c.begun = true
	line, err := c.line()
	if err != nil {
		return err
	}
	digits, _, _ := strings.Cut(line, ";")
	if c.left, err = strconv.ParseInt(strings.TrimSpace(digits), 16, 64); err != nil || c.left < 0 {
		return errChunk
	}
	if c.left == 0 {
		c.done = true
		err = c.readTrailer()
	}
	return err
}

// readTrailer reads lines of the form NAME:VALUE, up to an empty line or the end. It keeps the checksums and
// ignores everything after the empty line.
func (c *chunkedBody) readTrailer() error {
	c.trailer = http.Header{}
	for {
		line, err := c.line()
		if errors.Is(err, io.ErrUnexpectedEOF) || err == nil && line == "" {
			_, err = io.Copy(io.Discard, c.source)
			return err
		}
		if err != nil {
			return err
		}
		name, value, _ := strings.Cut(line, ":")
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(checksumPrefix)) {
			c.trailer.Set(name, strings.TrimSpace(value))
		}
	}
}

// line reads a line and returns it without its end. Chunk headers are short.
func (c *chunkedBody) line() (string, error) {
	line, err := c.source.ReadSlice('\n')
	switch {
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	case errors.Is(err, bufio.ErrBufferFull):
		err = errChunk
	}
	return strings.TrimRight(string(line), "\r\n"), err
}
