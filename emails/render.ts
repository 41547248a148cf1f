import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { Layout } from './layout.tsx';
import type { Mail, Mails } from './mails.ts';
import type { Message } from './message.ts';
import { paymentFailed } from './payment-failed.tsx';
import { paymentPending } from './payment-pending.tsx';
import { paymentSuccess } from './payment-success.tsx';
import { plainText } from './plain-text.ts';
import { subscriptionCompleted } from './subscription-completed.tsx';
import { subscriptionEnded } from './subscription-ended.tsx';
import { subscriptionEnding } from './subscription-ending.tsx';
import { subscriptionHalted } from './subscription-halted.tsx';
import { subscriptionRenewed } from './subscription-renewed.tsx';

/** The mails that the function renders. `npm run generate` bundles this file. */
export const mails: Mails = {
  paymentSuccess: (props) => render(paymentSuccess(props)),
  paymentFailed: (props) => render(paymentFailed(props)),
  paymentPending: (props) => render(paymentPending(props)),
  subscriptionRenewed: (props) => render(subscriptionRenewed(props)),
  subscriptionHalted: (props) => render(subscriptionHalted(props)),
  subscriptionCompleted: (props) => render(subscriptionCompleted(props)),
  subscriptionEnding: (props) => render(subscriptionEnding(props)),
  subscriptionEnded: (props) => render(subscriptionEnded(props)),
};

// The doctype of react-email's preview.
const doctype = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" ' +
  '"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">';

function render(message: Message): Mail {
  return {
    // A subject is one header line, and a plan's name may contain line breaks.
    subject: message.subject.replace(/[\s\p{Cc}]+/gu, ' '),
    html: doctype + renderToStaticMarkup(createElement(Layout, message)),
    text: plainText(message),
  };
}
