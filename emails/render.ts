import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { Layout } from './layout.tsx';
import type { Mail, Mails } from './mails.ts';
import type { Message } from './message.ts';
import { paymentFailed } from './payment-failed.tsx';
import { paymentSuccess } from './payment-success.tsx';
import { plainText } from './plain-text.ts';
import { subscriptionEnded } from './subscription-ended.tsx';
import { subscriptionEnding } from './subscription-ending.tsx';

/** The mails as the function calls them: what `npm run generate` bundles. */
export const mails: Mails = {
  paymentSuccess: (props) => render(paymentSuccess(props)),
  paymentFailed: (props) => render(paymentFailed(props)),
  subscriptionEnding: (props) => render(subscriptionEnding(props)),
  subscriptionEnded: (props) => render(subscriptionEnded(props)),
};

// The doctype that react-email's preview shows the mails with.
const doctype = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" ' +
  '"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">';

function render(message: Message): Mail {
  return {
    // A subject is one header line, whatever a plan is called.
    subject: message.subject.replace(/[\s\p{Cc}]+/gu, ' '),
    html: doctype + renderToStaticMarkup(createElement(Layout, message)),
    text: plainText(message),
  };
}
