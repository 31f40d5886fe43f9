"""How other languages than English give a role, set a writing task and limit a text.

A language has a row here so that briefs in it are caught. One without a row is never refused for its words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from assent.lifecycle.theater.words import sign

NEAR: Final = 12


class Tongue(NamedTuple):
    """One language's way to give a role, to set a task, to limit a text, and to say «your»."""

    role: re.Pattern[str]
    task: re.Pattern[str]
    limit: re.Pattern[str]
    owner: re.Pattern[str]


OTHER_TONGUES: Final[tuple[Tongue, ...]] = (
    Tongue(  # German
        sign(
            r"(?:du bist|sie sind|agiere als|stell dir vor,? du (?:bist|wärst)) (?:eine?|der|die|unser|"
            r"unsere) [^.!?]{0,80}?"
            r"(?:texter|redakteur|copywriter|autor|experte|expertin|assistent|marketer|manager|spezialist|"
            r"stratege|ki\b)"
        ),
        sign(
            r"(?:bitte )?(?:schreib|schreibe|schreiben sie|verfasse|verfassen sie|erstelle|erstellen sie|"
            r"formuliere|"
            r"formulieren sie|entwirf|generiere)(?: mir| uns| bitte)* (?:einen?|ein|drei|zwei|\d+|den|"
            r"die) [^.!?]{0,50}?"
            r"(?:post|beitr[aä]g|tweet|thread|e-?mail|newsletter|text|artikel|ankündigung|slogan|"
            r"betreff)\w{0,5}\b[^.!?]{0,20}\b"
            r"(?:über|zu|zur|zum|für|in dem|der|die|das|an)\b"
        ),
        sign(
            r"\b(?:höchstens|maximal|max\.?|nicht mehr als|unter) \d+ (?:wörter|zeichen|sätze)|\b(?:keine?|"
            r"ohne) (?:emojis?|"
            r"hashtags?|floskeln)|\b(?:ton|tonalität|stil)\b.{0,12}\b(?:soll|ist|sei|:)|"
            r"\bverwende\b.{0,40}\b(?:ton|"
            r"hashtags?|emojis?|sprache)\b|\bin (?:einem|der) .{0,30}\b(?:ton|tonalität)\b|"
            r"\b\w{3,20}er ton\b|\b(?:zwei|drei|\d) hashtags\b"
        ),
        sign(r"\b(?:dein\w{0,2}|dir|dich|ihr(?:e|en|em|er)?)\b"),
    ),
    Tongue(  # Spanish
        sign(
            r"(?:eres|actúa como|imagina que eres) (?:una?|el|la) [^.!?]{0,80}?(?:redactora?|copywriter|"
            r"experta?|escritora?|"
            r"asistente|especialista|periodista|gestora?|community manager|publicista)"
        ),
        sign(
            r"(?:por favor,? )?(?:escribe|redacta|crea|genera|elabora|prepara)(?:me|nos)? (?:una?|el|la|tres|"
            r"\d+) [^.!?]{0,50}?"
            r"(?:publicación|post|tuit|tweet|hilo|correo|e-?mail|boletín|texto|anuncio|artículo|"
            r"titular)\w{0,3}\b[^.!?]{0,30}\b"
            r"(?:que|sobre|para|anunciando|de|del|acerca)\b"
        ),
        sign(
            r"\bque sea \w+|\b(?:no pases de|máximo|como máximo|menos de|no más de) (?:de )?\d+|\btono\b|"
            r"\bsin (?:emojis?|"
            r"hashtags?|"
            r"tecnicismos)|\bincluye\b.{0,40}\b(?:llamada a la acción|enlace|hashtags?)|\b\d+ (?:palabras|"
            r"caracteres)\b"
        ),
        sign(r"\b(?:tu|tus|tuy[oa]s?|su|sus)\b"),
    ),
    Tongue(  # French
        sign(
            r"(?:tu es|vous êtes|agis comme|agissez comme|agis en tant que|agissez en tant que) (?:(?:une?|le|"
            r"la|notre) )?[^.!?]{0,80}?(?:rédact\w+|copywriter|expert\w*|"
            r"assistant\w*|spécialiste|journaliste|concepteur|conceptrice|community manager|stratège)"
        ),
        sign(
            r"(?:s['’]il (?:te|vous) plaît,? )?(?:écris|écrivez|rédige|rédigez|crée|créez|génère|générez|prépare|"
            r"préparez|propose)(?:-moi|-nous)? (?:une?|le|la|trois|\d+) [^.!?]{0,50}?(?:post|publication|"
            r"tweet|fil|e-?mail|"
            r"courriel|infolettre|newsletter|texte|annonce|article|accroche|légende)s?\b[^.!?]{0,30}\b(?:pour|"
            r"sur|annonçant|"
            r"qui|afin|à propos)\b"
        ),
        sign(
            r"\b\d+ (?:mots|caractères)(?: (?:maximum|max))?|\bton\b.{0,20}\b(?:chaleureux|amical|"
            r"professionnel|léger|"
            r"décontracté|sobre|doit)|\b(?:sans|pas d['’e]) ?(?:émojis?|emojis?|hashtags?|jargon)|"
            r"\bappel à l['’]action\b"
        ),
        sign(r"\b(?:votre|vos|ton|ta|tes)\b"),
    ),
    Tongue(  # Portuguese
        sign(
            r"(?:você é|tu és|és|aja como|atue como) (?:uma?|o|a) [^.!?]{0,80}?(?:redator\w*|copywriter|"
            r"especialista|"
            r"escritora?|assistente|jornalista|estrategista|profissional)"
        ),
        sign(
            r"(?:por favor,? )?(?:escreva|escreve|redija|redige|crie|cria|gere|elabore|prepare)(?:-me|"
            r"-nos)? (?:uma?|o|a|"
            r"três|\d+) [^.!?]{0,50}?(?:post|publicação|tweet|fio|e-?mail|boletim|texto|anúncio|artigo|"
            r"legenda)s?\b[^.!?]{0,40}\b"
            r"(?:que|sobre|para|anunciando|do|da)\b"
        ),
        sign(
            r"\b(?:no máximo|até|menos de) \d+|\btom\b|\bsem (?:emojis?|hashtags?|jargão)|\b\d+ (?:palavras|"
            r"caracteres)\b"
        ),
        sign(r"\b(?:seu|sua|seus|suas|teu|tua)\b"),
    ),
    Tongue(  # Italian
        sign(
            r"(?:sei|agisci come|comportati come) (?:una?|un['’]|il|la) ?[^.!?]{0,80}?(?:copywriter|redat\w+|"
            r"espert[oa]|"
            r"scrit\w+|assistente|giornalista|specialista|social media manager)"
        ),
        sign(
            r"(?:per favore,? )?(?:scrivi|scriva|scrivete|redigi|crea|genera|prepara|componi)(?:mi|"
            r"ci)? (?:una?|un['’]|il|la|"
            r"tre|\d+) ?[^.!?]{0,50}?(?:post|tweet|thread|e-?mail|newsletter|testo|annuncio|articolo|"
            r"didascalia)\b[^.!?]{0,30}\b"
            r"(?:che|per|su|sul|sulla|annunciando|di)\b"
        ),
        sign(
            r"\b(?:massimo|al massimo|non più di|meno di) \d+|\btono\b|\bsenza (?:emoji|hashtag|gergo)|"
            r"\b\d+ (?:parole|"
            r"caratteri)\b"
        ),
        sign(r"\b(?:tuo|tua|tuoi|tue|suo|sua)\b"),
    ),
    Tongue(  # Dutch
        sign(
            r"(?:je bent|u bent|jij bent|doe alsof je) (?:een|de|onze) [^.!?]{0,80}?(?:copywriter|schrijver|"
            r"tekstschrijver|"
            r"expert|redacteur|assistent|marketeer|specialist|strateeg)"
        ),
        sign(
            r"(?:schrijf|maak|genereer|stel)(?: me| ons)? (?:een|drie|\d+) [^.!?]{0,50}?(?:post|bericht|tweet|"
            r"e-?mail|"
            r"nieuwsbrief|tekst|artikel|aankondiging)\b[^.!?]{0,30}\b(?:over|voor|waarin|die|dat)\b"
        ),
        sign(
            r"\b(?:maximaal|hooguit|niet meer dan) \d+|\btoon\b|\bgeen (?:emoji['’]?s?|hashtags?|jargon)|"
            r"\b\d+ (?:woorden|"
            r"tekens)\b"
        ),
        sign(r"\b(?:je|jouw|uw)\b"),
    ),
    Tongue(  # Russian and Ukrainian
        sign(
            r"(?:ты|вы|ти|ви) ?[–—-]? ?[^.!?]{0,60}?(?:копирайтер|копірайтер|редактор|маркетолог|эксперт|"
            r"експерт|автор|"
            r"ассистент|помощник|специалист|журналист)"
        ),
        sign(
            r"(?:пожалуйста,? )?(?:напиши|напишите|составь|составьте|создай|создайте|сгенерируй|подготовь|"
            r"придумай|"
            r"напишіть|створи) [^.!?]{0,40}?(?:пост|твит|письмо|текст|статью|анонс|рассылку|заголовок|"
            r"публикацию|допис|лист)"
        ),
        sign(
            r"\b(?:не больше|не более|максимум|до|не більше) \d+|\bтон\b|\bбез (?:эмодзи|хештегов|хэштегов|"
            r"жаргона)|\b\d+ "
            r"(?:слов|символов|знаков)\b"
        ),
        sign(r"\b(?:тво\w{1,3}|ваш\w{0,3}|сво\w{1,3}|нам)\b"),
    ),
    Tongue(  # Polish
        sign(
            r"(?:jesteś|wciel się w rolę|działaj jako) [^.!?]{0,80}?(?:copywriter\w*|redaktor\w*|ekspert\w*|"
            r"specjalist\w*|"
            r"asystent\w*|marketingow\w+)"
        ),
        sign(
            r"(?:proszę,? )?(?:napisz|stwórz|przygotuj|zredaguj|wygeneruj) [^.!?]{0,40}?(?:post|wpis|tweet|"
            r"e-?mail|mail|"
            r"wiadomość|tekst|artykuł|newsletter)\w*\b[^.!?]{0,40}\b(?:o|na|dla|ogłaszający|do)\b"
        ),
        sign(
            r"\b(?:maksymalnie|nie więcej niż|do) \d+|\bton\b|\bbez (?:emoji|hashtagów|żargonu)|\b\d+ (?:słów|"
            r"znaków)\b"
        ),
        sign(r"\b(?:tw(?:ój|oj\w{1,3})|swo\w{1,3})\b"),
    ),
    Tongue(  # Turkish
        sign(r"(?:sen|siz) [^.!?]{0,60}?(?:metin yazar\w*|uzman\w*|editör\w*|asistan\w*|yazar\w*)"),
        sign(
            r"[^.!?]{0,120}?(?:gönderi\w*|tweet|e-?posta|metin|duyuru\w*|yazı)\s(?:yaz|yazın|hazırla|"
            r"hazırlayın|oluştur|"
            r"oluşturun)\b"
        ),
        sign(
            r"\b(?:en fazla|maksimum) \d+|\bton\w*\b|\b(?:emoji|hashtag) (?:kullanma|olmasın)|\b\d+ (?:kelime|"
            r"karakter)"
        ),
        sign(r"\b(?:senin|sizin|kendi)\b"),
    ),
    Tongue(  # Japanese
        sign(
            r"(?:あなた|君|きみ)は.{0,40}?(?:ライター|専門家|編集者|マーケター|アシスタント|プロ|担当者|"
            r"エキスパート)(?:です|だ|として)"
        ),
        sign(
            r".{0,120}?(?:投稿|ツイート|メール|記事|キャプション|文章|告知文?|コピー|見出し|タイトル|スレッド|"
            r"ポスト|文面)文?(?:案)?を.{0,12}?"
            r"(?:書いて|作成して|作って|考えて|生成して|執筆して)(?:ください|下さい|ほしい|くれ|"
            r"もらえますか)(?:ませんか)?\W{0,2}$"
        ),
        sign(
            r"\d+ ?(?:文字|字)(?:以内|以下|程度|まで)|絵文字.{0,6}(?:使わない|なし|不要|入れない)|トーン|口調|"
            r"ハッシュタグ.{0,8}(?:付け|つけ|入れ|使)"
        ),
        sign(r"あなたの|自分の"),
    ),
    Tongue(  # Chinese
        sign(
            r"(?:你|您)(?:现在|現在)?(?:是|將|将)(?:一[位名个個])?.{0,30}?(?:文案|编辑|編輯|作者|写手|寫手|"
            r"专家|專家|助手|营销|行銷|策划|記者|记者|撰稿人)"
        ),
        sign(
            r"(?:请|請|帮我|幫我|你的任务是|你的任務是|为|為|给|給).{0,60}?(?:写|寫|撰写|撰寫|生成|创作|創作|"
            r"起草|编写).{0,4}?[篇条條封个個段则則份].{0,30}?"
            r"(?:帖子|推文|邮件|郵件|文案|文章|公告|标题|標題|动态|貼文|贴文)"
        ),
        sign(
            r"(?:不超过|不超過|控制在|最多|少于|不要超过)\s*\d+\s*(?:字|个字|個字)|\d+\s*字(?:以内|以內|左右)|"
            r"语气|語氣|不要使用|避免使用|风格|風格"
        ),
        sign(r"你的|您的|自己的"),
    ),
    Tongue(  # Korean
        sign(
            r"(?:당신은|너는|귀하는).{0,40}?(?:카피라이터|작가|전문가|마케터|편집자|어시스턴트|에디터|기자)"
        ),
        sign(
            r".{0,120}?(?:게시물|게시글|포스트|트윗|이메일|메일|글|문구|기사|공지|카피|제목)(?:을|"
            r"를)\s?.{0,12}?(?:작성해|써|만들어|생성해)\s?"
            r"(?:주세요|줘|주십시오|달라)"
        ),
        sign(
            r"\d+\s?자\s?(?:이내|이하|내외)|(?:이모지|해시태그).{0,8}(?:쓰지|사용하지|없이|넣지)|톤|어조|말투"
        ),
        sign(r"당신의|자신의|나의"),
    ),
    Tongue(  # Arabic
        sign(r"(?:أنت|انت|تصرف ك|تصرّف ك).{0,30}?(?:كاتب|خبير|محرر|مسوق|مسوّق|مساعد|صحفي|متخصص)"),
        sign(
            r"(?:من فضلك،? )?(?:اكتب|أكتب|قم بكتابة|أنشئ|صغ|حرر)\s.{0,20}?(?:منشور|تغريدة|رسالة|بريد|نص|إعلان|"
            r"مقال|عنوان)"
        ),
        sign(
            r"(?:لا تتجاوز|بحد أقصى|لا يزيد|أقل من)|نبرة|أسلوب|(?:دون|بدون|بلا) (?:رموز|وسوم|هاشتاغ|إيموجي)"
        ),
        sign(r"لنا|إلينا"),
    ),
    Tongue(  # Vietnamese
        sign(
            r"(?:bạn là|hãy đóng vai|đóng vai) .{0,60}?(?:chuyên gia|copywriter|người viết|biên tập|trợ lý|"
            r"chuyên viên)"
        ),
        sign(
            r"(?:hãy |vui lòng )?(?:viết|soạn|tạo)(?: cho tôi)? (?:một|\d+|ba) .{0,20}?(?:bài|email|tweet|thư|"
            r"thông báo|tiêu đề)"
        ),
        sign(
            r"\b(?:tối đa|không quá|dưới) \d+|\bgiọng|\bkhông (?:dùng|sử dụng) (?:emoji|hashtag)|\b\d+ (?:từ|"
            r"ký tự)\b"
        ),
        sign(r"\bcủa bạn\b"),
    ),
    Tongue(  # Indonesian and Malay
        sign(
            r"(?:kamu|anda) adalah (?:seorang )?.{0,40}?(?:penulis|copywriter|ahli|editor|asisten|pakar)|"
            r"bertindaklah sebagai"
        ),
        sign(
            r"(?:tolong |mohon )?(?:tulis|tuliskan|buat|buatkan|susun|hasilkan)(?: saya)? (?:sebuah |satu |"
            r"tiga |\d+ )?(?:\w+ ){0,2}?"
            r"(?:postingan|unggahan|kiriman|tweet|email|surel|artikel|teks|caption|pengumuman)\b"
        ),
        sign(
            r"\b(?:maksimal|paling banyak|kurang dari) \d+|\bnada\b|\btanpa (?:emoji|hashtag|tagar)|"
            r"\b\d+ (?:kata|karakter)\b"
        ),
        sign(r"\b(?:anda|kamu|kami)\b"),
    ),
    Tongue(  # Hindi
        sign(r"(?:आप|तुम) (?:एक )?.{0,40}?(?:लेखक|कॉपीराइटर|विशेषज्ञ|संपादक|सहायक)"),
        sign(r".{0,60}?(?:पोस्ट|ट्वीट|ईमेल|लेख|संदेश|कैप्शन|घोषणा) (?:लिखें|लिखो|लिखिए|तैयार करें|बनाएं|बनाएँ)"),
        sign(r"\d+ (?:शब्द|अक्षर)|लहजा|स्वर |(?:इमोजी|हैशटैग) (?:न|नहीं|के बिना)|से कम|से अधिक न"),
        sign(r"आपके|आपकी|अपने|अपनी|हमें"),
    ),
    Tongue(  # Swedish, Danish and Norwegian
        sign(
            r"(?:du är|du er|agera som|opptre som|ager som) (?:en|et|ett) [^.!?]{0,80}?(?:skribent|copywriter|"
            r"expert|ekspert|redaktör|"
            r"redaktør|assistent|tekstforfatter|marknadsförare)"
        ),
        sign(
            r"(?:skriv|skapa|lag|lav|formulera|generera) (?:ett|en|et|tre|\d+) [^.!?]{0,40}?(?:inlägg|innlegg|"
            r"opslag|tweet|e-?post|mejl|mail|"
            r"text|tekst|artikel|artikkel|nyhetsbrev)\w{0,3}\b[^.!?]{0,20}\b(?:om|för|for|som|till|til)\b"
        ),
        sign(
            r"\b(?:max|högst|maks|højst|maksimum) \d+|\bton(?:en|fall)?\b|\b(?:inga|ingen|uden|utan|"
            r"uten) (?:emojis?|hashtags?)|"
            r"\b\d+ (?:ord|tecken|tegn)\b"
        ),
        sign(r"\b(?:din|ditt|dina|dit|dine)\b"),
    ),
    Tongue(  # Czech and Slovak
        sign(
            r"(?:jsi|jste|si|ste|vžij se do role) [^.!?]{0,60}?(?:copywriter|redaktor|expert|odborn|asistent|"
            r"specialist|autor)"
        ),
        sign(
            r"(?:prosím,? )?(?:napiš|napište|napíš|vytvoř|vytvořte|vytvor|připrav|"
            r"sepiš) [^.!?]{0,40}?(?:příspěvek|príspevok|tweet|e-?mail|text|"
            r"článek|článok|oznámení|newsletter)\w{0,3}\b[^.!?]{0,30}\b(?:o|na|pro|pre|k)\b"
        ),
        sign(
            r"\b(?:maximálně|maximálne|nejvýše|do) \d+|\btón\w{0,3}\b|\bbez (?:emoji|hashtagů|hashtagov)|"
            r"\b\d+ (?:slov|znaků|znakov)\b"
        ),
        sign(r"\b(?:tv\w{1,3}|svůj|svoj|vaš\w{0,3}|nám)\b"),
    ),
)


_OPENING: Final = sign(
    *(tongue.role.pattern for tongue in OTHER_TONGUES), *(tongue.task.pattern for tongue in OTHER_TONGUES)
)
"""A role or a task in any of them: one look, and most texts are done."""


def gives_orders(sentences: Sequence[str]) -> bool:
    """Whether a text opens with a role and goes on with a task or a limit, or opens with a task."""
    opening, near = sentences[0], sentences[:NEAR]
    if _OPENING.match(opening) is None:
        return False
    for role, task, limit, owner in OTHER_TONGUES:
        has_role, has_task = role.match(opening), task.match(opening)
        if not has_role and not has_task:
            continue
        limited = any(limit.search(sentence) for sentence in near)
        if has_role and (limited or any(task.search(sentence) for sentence in near)):
            return True
        if has_task and (limited or (len(sentences) == 1 and not owner.search(opening))):
            return True
    return False
