package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/inspect/web"
	"github.com/foretick/foretick/simtest"
)

// A server's page is mounted in one line. Its path ends with a slash.
func ExampleServer() {
	server, err := simtest.New(1).Serve(foretick.ServerConfig{Protocol: foretick.NewProtocol("empty", 1)})
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()

	mux.Handle("/inspect/", web.Server(server, web.Config{}))

	request := httptest.NewRequest(http.MethodGet, "http://localhost:8080/inspect/", nil)
	request.RemoteAddr = "127.0.0.1:50000" // others are refused
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, request)
	fmt.Println(answer.Code, answer.Header().Get("Content-Type"))
	// Output: 200 text/html; charset=utf-8
}
