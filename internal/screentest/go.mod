module github.com/foretick/foretick/internal/screentest

go 1.26.0

require (
	github.com/andybalholm/brotli v1.2.0
	github.com/chromedp/cdproto v0.0.0-20250724212937-08a3db8b4327
	github.com/chromedp/chromedp v0.14.2
	github.com/foretick/foretick v0.1.0
	github.com/stretchr/testify v1.12.1
)
