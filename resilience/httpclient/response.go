package httpclient

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// maxDrained is the maximum number of bytes that are read of a response that is not returned, so that its
// connection can be reused.
const maxDrained = 64 << 10

// keep keeps the attempt's context alive until the response's body has been read or closed.
func keep(resp *http.Response, release func()) *http.Response {
	if resp.Body == nil || resp.Body == http.NoBody {
		release()
		return resp
	}
	body := &kept{ReadCloser: resp.Body, release: release}
	if writer, ok := resp.Body.(io.Writer); ok { // 101 Switching Protocols
		resp.Body = &keptStream{body, writer}
	} else {
		resp.Body = body
	}
	return resp
}

// kept is a response body that releases its attempt when it has been read or closed. release may be called more
// than once.
type kept struct {
	io.ReadCloser
	release func()
}

func (k *kept) Read(p []byte) (int, error) {
	n, err := k.ReadCloser.Read(p)
	if err != nil {
		k.release()
	}
	return n, err
}

func (k *kept) Close() error {
	err := k.ReadCloser.Close()
	k.release()
	return err
}

// abort ends the attempt while another goroutine may be reading.
func (k *kept) abort() { k.release() }

type keptStream struct {
	*kept
	io.Writer
}

// drain reads the body, up to a limit, and closes it. It does not wait for a server that stalls.
func (t *Transport) drain(resp *http.Response) {
	if resp == nil || resp.Body == nil {
		return
	}
	defer resp.Body.Close()
	if resp.ContentLength > maxDrained {
		return
	}
	if body, ok := resp.Body.(interface{ abort() }); ok {
		var over sync.WaitGroup
		over.Add(1)
		cut := time.AfterFunc(t.patience, func() { defer over.Done(); body.abort() })
		defer func() {
			if cut.Stop() {
				over.Done()
			}
			over.Wait()
		}()
		_, _ = io.CopyN(io.Discard, resp.Body, maxDrained) // an error only means that the connection is not reused
	}
}
