/**
 * Answers with the HTML of a mail, for a frame of the same page.
 * @param images sources of images beside `data:`; remote ones can track who opens a mail
 */
export function mailDocument(html: string, images = ''): Response {
  // `sandbox` without exceptions: no script, no form, no top navigation, a separate origin.
  const policy = [
    'sandbox',
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `img-src data: ${images}`.trim(),
    "frame-ancestors 'self'",
  ];
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    },
  });
}
