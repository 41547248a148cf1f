import type { ReactNode } from 'react';
import { Body, Button, Container, Head, Heading, Html, Preview, Section, Text } from 'react-email';
import type { Detail, Message } from './message.ts';
import { darkClass, darkStyles, theme } from './theme.ts';

/** The HTML of a mail. */
export function Layout(
  { subject, preview, heading, displayName, body, details, action, note }: Message,
): ReactNode {
  return (
    <Html lang='en'>
      <Head>
        <meta name='viewport' content='width=device-width, initial-scale=1' />
        <meta name='color-scheme' content='light dark' />
        <meta name='supported-color-schemes' content='light dark' />
        <title>{subject}</title>
        <style>{darkStyles}</style>
      </Head>
      <Body className={darkClass.page} style={theme.page}>
        <Preview useTitleTag={false}>{preview}</Preview>
        <Container className={darkClass.card} style={theme.card}>
          <Heading className={darkClass.text} style={theme.heading}>{heading}</Heading>
          <Text className={darkClass.text} style={theme.text}>
            <Greeting name={displayName.trim()} />
          </Text>
          <Text className={darkClass.text} style={theme.text}>{body}</Text>
          <Details details={details} />
          <Section>
            <Button href={webAddress(action.url)} style={theme.action}>{action.label}</Button>
          </Section>
          <Text className={darkClass.muted} style={theme.note}>{note}</Text>
        </Container>
      </Body>
    </Html>
  );
}

// A name may be in a right-to-left script. `bdi` keeps the comma in its place.
function Greeting({ name }: { readonly name: string }): ReactNode {
  return name === '' ? 'Hello,' : (
    <>
      Hello <bdi>{name}</bdi>,
    </>
  );
}

function Details({ details }: { readonly details: readonly Detail[] }): ReactNode {
  return (
    <table width='100%' cellPadding='0' cellSpacing='0' style={theme.details}>
      <tbody>
        {details.map(({ label, value }) => (
          <tr key={label}>
            <th scope='row' className={`${darkClass.muted} ${darkClass.line}`} style={theme.label}>{label}</th>
            <td className={`${darkClass.text} ${darkClass.line}`} style={theme.value}>
              <bdi>{value}</bdi>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function webAddress(url: string): string {
  if (!/^https?:$/.test(new URL(url).protocol)) throw new Error('A mail links to http(s) addresses only');
  return url;
}
